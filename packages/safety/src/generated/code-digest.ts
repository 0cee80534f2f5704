// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = 'f458ef0434671dc6e57ff5c35baa938f80770e00ebda3fe2e0aca36cd5073397'
