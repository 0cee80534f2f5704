// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '7dc20b76d6b7ccc991adce245b276f14c46639ce2867cf35500fcb7fc7d4a817'
