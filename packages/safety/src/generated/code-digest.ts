// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '349878f59a6fcb0b21ff10994e770930bc87bbdfcbd40e502069f4df4509aea9'
