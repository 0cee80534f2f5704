// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '35ba8e131ebbf7f15a7a5d93e6603d8060af0d820dcf2830461aa642d41f742b'
