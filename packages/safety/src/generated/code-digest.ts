// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '0f499ce61b4e555c0bd97794f41afe3e743c1652509b1872eac60d124bc20382'
