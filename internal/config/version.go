package config

// Version is that of the program and of the extension that it carries.
const Version = "0.1.0"
