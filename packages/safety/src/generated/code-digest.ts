// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '29c6900abc298dc78e392b10efa4f3a19769352498fb6034fbc26a4fbf299d4f'
