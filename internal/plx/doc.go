// Package plx is the tag protocol: how the text of a model's reply becomes notes, actions and an answer, and how results go
// back as text. It is used over every channel that carries nothing but text: a chat page, a model API, a script.
//
// # How a reply is read
//
// A body is text up to the first closer of its tag's name; its own closer stands in it only with a backslash. So tags in a done,
// and all that stands in a file, mean nothing. A note is no place for tags: one that begins in it ends it.
//
// Text outside of tags is Markdown. A tag that is quoted there as code, in backticks or in a fenced block with other text before
// it, is text; a fence that holds nothing but tags is dropped. Such text is shown and never run.
//
// Doubt is settled against running something: what stands in a tag that is unknown, broken or never closed is not taken for tags,
// and the model is told to write it again.
//
// The package is pure: no I/O, no clock, nothing of the other packages. Parser reads a reply while it streams, First, Results
// and Correction write the messages that go out.
package plx
