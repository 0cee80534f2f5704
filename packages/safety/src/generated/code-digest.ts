// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '4d54c0c4d5117ae197fa82bab0522a6d540b9662de6381e05b7a25c55cb17273'
