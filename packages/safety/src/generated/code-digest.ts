// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '08087642e16b124232c1a7834f839d6a9c7135b41f8cccbffda92ef7845fcfcf'
