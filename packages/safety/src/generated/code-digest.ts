// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '9b3e47575400ccd9bce51e545c543b26192ff51bf94c1222647ecb5028e945a7'
