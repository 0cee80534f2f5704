// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '6d4c05f883a3887bda811f881fa95d836504fedc82bb1d4de95961e778169069'
