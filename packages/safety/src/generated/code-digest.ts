// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '36b6d1996743b7fae49dc7985fc1a71ce39f220a5cd69098c9dddcc0d9f53758'
