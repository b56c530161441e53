/** The words of an auditor's certificate, for a reader who has not read the documentation. */
export const GLOSSARY: readonly (readonly [word: string, meaning: string])[] = [
  [
    "Chain",
    "The list of everything that was recorded for one purpose, in order. Each entry names the hash of the one before it, so that none can be changed alone. An organization has two: its scores and decisions, and its audit log.",
  ],
  [
    "Entry",
    "One record of a chain. Its contents, called parts, stand beside it, and the entry commits to them.",
  ],
  ["Bundle", "A chain as a file, as the service exports it."],
  [
    "Root",
    "One hash over all entries of a chain up to a size. If any entry were different, the root would be, too.",
  ],
  [
    "Checkpoint",
    "Three lines with a signature: the name of the chain, the number of its entries, and the root. It pins everything up to there.",
  ],
  [
    "Signature",
    "A mark that only the holder of a secret key can make and everybody can check with the public key. Here it is Ed25519.",
  ],
  [
    "Fingerprint",
    "A short hash that names a public key. Compare it with one that you got another way, for example on paper.",
  ],
  [
    "Rotation certificate",
    "A text in a bundle by which the old signing key names the new one. It leads from a key that you trust to its successor.",
  ],
  [
    "Kept checkpoint",
    "A checkpoint of an earlier verification. It is what shows that history was not rewritten since.",
  ],
  ["Visit", "One verification by an auditor. An earlier visit is an earlier verification."],
  ["System chain", "The service’s own chain. It records checkpoints of all other chains."],
  ["Epoch", "After a restore from a backup a chain goes on under a new name: /e2, /e3 and so on."],
  [
    "Operator",
    "A person whose reviews are scored. Entries name operators by pseudonyms, 32 hexadecimal digits.",
  ],
  [
    "Erasure",
    "The destruction of an operator’s contents on request. The entries stay, so that the chain can still be verified.",
  ],
  [
    "Retention",
    "The rule by which old entries are removed. A signed record says what was removed.",
  ],
  ["Withheld", "Left out of this export. The content may still be in the service."],
  [
    "Replay",
    "The computation of a recorded score, decision or label anew from its recorded inputs, to the last bit.",
  ],
  [
    "SHA-256",
    "The hash that names a file’s bytes. A file with the same SHA-256 is the same file: sha256sum prints it.",
  ],
];
