// Whatever an interface lists, it lists in pages, and says how many there are: a list that only grows is no list.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface Schema {
  readonly $ref?: string
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Lists that a rule keeps short, or that a published protocol says how to read. */
const OTHERS: Readonly<Record<string, string>> = {
  '/v2/handoffs/{id}/chunks': 'a stream has at most 10,000 chunks, read by `after` and `limit`',
  '/v2/tasks/{id}/receipts': 'one for each execution of one task',
  '/v2/events':
    'events go on without end, read by `after` and `limit`, and isMore says whether there are more',
  '/v2/slo': 'pairs are bounded, and pairsLeftOut says how many are left out',
  '/api/handoffs': 'the Handoffs API as it is published has no pages',
  '/api/profiles/{id}/handoffs/inbox': 'the Handoffs API as it is published has no pages',
  '/api/profiles/{id}/handoffs/sent': 'the Handoffs API as it is published has no pages',
  '/schemas': 'the registry of this version',
  '/v1/holds':
    'at most 200 in one answer, read on by `after`: what is not held is only known at the end',
  '/v1/tiers': 'one for each chain, and the first page of holds',
  '/v1/retention': 'one for each chain, and the first page of holds',
  '/v2/verification': 'the verdict on the whole log; findingsTotal says how many there are',
  '/.well-known/oauth-protected-resource': 'as RFC 9728 has it: at most 32 issuers, and the scopes',
  '/.well-known/oauth-protected-resource/mcp': 'as RFC 9728 has it',
  '/v1/verify': 'the verdict on the whole log; findingsTotal says how many there are',
}

const read = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) as Document

const lists = ['services/gateway/openapi.json', 'services/auditor/openapi.json'].flatMap((path) => {
  const { paths, components } = read(path)
  const whole = (schema: Schema = {}): Schema =>
    schema.$ref === undefined
      ? schema
      : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  return Object.entries(paths).flatMap(([route, { get }]) => {
    const answer = whole(get?.responses['200']?.content?.['application/json']?.schema)
    const members = answer.properties ?? {}
    const isList =
      answer.type === 'array' || Object.values(members).some((one) => whole(one).type === 'array')
    const isOfOne = route.endsWith('}') || route.endsWith('/trace') || route.endsWith('/message')
    return get === undefined || !isList || isOfOne ? [] : [{ route, get, members }]
  })
})

it('are those that are known to be other', () => {
  const routes = lists.map(({ route }) => route)
  expect(routes).toEqual(expect.arrayContaining(Object.keys(OTHERS)))
})

it.each(lists.filter(({ route }) => !(route in OTHERS)))(
  '$route takes limit and cursor, and says nextCursor and total',
  ({ get, members }) => {
    const taken = get.parameters?.map(({ name }) => name)
    expect(taken).toEqual(expect.arrayContaining(['limit', 'cursor']))
    expect(Object.keys(members)).toEqual(
      expect.arrayContaining(['nextCursor', 'total', 'totalIsExact']),
    )
  },
)
