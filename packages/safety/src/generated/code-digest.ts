// Generated from the scanner's code by generate-code-digest.ts; do not edit.
export const CODE_DIGEST = '465e653be79007362fe7bbcc6ddef743f7785df457a26f62dba4b17c86de409f'
