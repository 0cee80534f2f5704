// What tenants and operators are called: the same in keys, people, requests and records.

/** Whose everything is that names no tenant: alone in an installation it is all there is. */
export const DEFAULT_TENANT = 'default'

/** As the source of a regular expression, to stand in a larger one. */
export const TENANT = '[a-z][a-z0-9-]{0,30}'

/** An operator within a tenant, as keys name one. */
export const OPERATOR_NAME = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}'

/** An operator as everybody else names one: with the tenant before it, unless that is the default one. */
export const OPERATOR = `(?:${TENANT}/)?${OPERATOR_NAME}`

/** Whether a tenant may be called so. */
export const isTenantName = (text: string): boolean => WHOLE.test(text)

const WHOLE = new RegExp(`^${TENANT}$`)

/** Whose an operator is: of the default tenant's, no name says it. */
export const tenantOfOperator = (operator: string): string =>
  operator.includes('/') ? operator.slice(0, operator.indexOf('/')) : DEFAULT_TENANT
