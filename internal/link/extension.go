package link

// ExtensionID is the id of our extension: Chrome derives it from the public key
// in the extension's manifest, so it is the same wherever the folder lies.
const ExtensionID = "fciepkknpkpmhipmeaidbjclebifhenl"
