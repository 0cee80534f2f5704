// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '451b0d72db814f349a01eea41a5e2c430236c71cfcc5aec585d1ac90a3f0251b'
