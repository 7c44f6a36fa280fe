// Package plx is the tag protocol: how the text of a model's reply becomes notes, actions and an answer, and how results go
// back as text. It is used over every channel that carries nothing but text: a chat page, a model API, a script.
//
// The package is pure: no I/O, no clock, nothing of the other packages. Parser reads a reply while it streams, First, Results
// and Correction write the messages that go out.
package plx
