// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '5f5c0527f58557492c48b7e689811688e5a7e944a20c226d13a0b9570a092b33'
