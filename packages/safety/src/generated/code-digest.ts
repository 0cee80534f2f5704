// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '5bfed4eb13cfa97a2f740175e6fd78fb5a6ef066a25cdd6507ba4edc81c2d4fb'
