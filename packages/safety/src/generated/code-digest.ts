// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '15021196c858e149794537114b276f1edf1ec06a411f388a16b5e695341e6dcd'
