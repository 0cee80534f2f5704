// Access tokens beside keys and fixed tokens: who calls, by whom it is proven, and what they may.
export { createAccessTokens } from './access-tokens.ts'
export type { AccessTokens } from './access-tokens.ts'
export { parseIssuers, readIssuers } from './issuers.ts'
export type { Issuer } from './issuers.ts'
export { decides, isRole, ROLES } from './roles.ts'
export type { Names, TokenAccess, Withheld } from './token-access.ts'
export { TOKEN_PROBLEMS, withheldProblem } from './token-problems.ts'
export type { TokenFault } from './verify-token.ts'
