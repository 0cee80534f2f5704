// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '07cbcbc6ffc3aa55d0ea14d0520d5a4daad3a3e26a678626fc52af70c9e3f016'
