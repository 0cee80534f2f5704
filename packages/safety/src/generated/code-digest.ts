// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '561616c96e2ed5c1db945ec898085cd3050ea9228d6c76eb24f24bc9dc29ad04'
