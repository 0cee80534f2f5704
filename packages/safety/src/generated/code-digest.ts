// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = 'c0a73722b3c7ced17acea9249c78bc484d3aaf741a7024121aac4c06ae2a5558'
