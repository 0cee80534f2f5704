// What the auditor answers is what its OpenAPI document says: status, content type and form.
import { readFileSync } from 'node:fs'
import { createDocumentCheck } from '@baton/protocol/document-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  APPEND_TOKEN,
  createAuditFixture,
  entryOf,
  ERASE_TOKEN,
  READ_TOKEN,
} from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

interface Content {
  readonly schema: object
}

interface Operation {
  readonly security: readonly { readonly token: readonly string[] }[]
  readonly requestBody?: object
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, Content>> }>
  >
}

const { paths, components } = JSON.parse(
  readFileSync(new URL('../../services/auditor/openapi.json', import.meta.url), 'utf8'),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: { readonly Problem: object } }
}
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Other rights have no token here: their routes are refused or are not there, as the document says too. */
const TOKENS: Readonly<Record<string, string>> = {
  read: READ_TOKEN,
  append: APPEND_TOKEN,
  erase: ERASE_TOKEN,
}
const ENTRY = entryOf()

let fixture: AuditFixture
let auditor: RunningAuditor

beforeAll(async () => {
  fixture = await createAuditFixture()
  auditor = await fixture.startAuditor()
  await auditor.client.append([ENTRY])
})

afterAll(() => fixture?.close())

const urlOf = (path: string, id: string = ENTRY.taskId) =>
  path
    .replace(/\{(taskId|id)\}/, id)
    .replace(/\{tile\}/, '0/000')
    .replace(/\{\w+\}/g, '0')

/** The status, once what was answered is found to be what the document says. */
async function ask(method: string, path: string, url: string, body?: string): Promise<number> {
  const operation = paths[path]?.[method]
  const [right = ''] = operation?.security.flatMap(({ token }) => token) ?? []
  const response = await fetch(auditor.url + url, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${TOKENS[right]}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  const { status } = response
  const documented = operation?.responses[status]?.content[type]
  const answered = `${method} ${url} answers ${status} ${type}`
  expect(documented, `${answered}, which is not documented`).toBeDefined()
  if (!type.endsWith('json')) return status
  const { schema = {} } = documented ?? {}
  const checked = '$ref' in schema ? components.schemas.Problem : schema
  const form = createDocumentCheck(checked)(bytes)
  expect(form, `${answered}, of another form`).toMatchObject({ ok: true })
  return status
}

it.each(OPERATIONS)('$method $path refuses as it says', async ({ method, path, operation }) => {
  const body = operation.requestBody === undefined ? undefined : '{}'
  const unknown = await ask(method, path, `${urlOf(path)}?nobody=knows`, body)
  expect(unknown).toBeGreaterThanOrEqual(400)
  await ask(method, path, urlOf(path, 'nothing'), body)
  if (method !== 'get') await ask(method, path, urlOf(path), '{')
})

it.each(OPERATIONS.filter(({ method }) => method === 'get'))(
  'get $path answers as it says',
  async ({ path }) => {
    expect(await ask('get', path, urlOf(path))).toBeLessThan(500)
  },
)

it.each([
  ['/v1/search', { taskId: ENTRY.taskId }],
  ['/v1/costs', { by: ['agent'] }],
  ['/v1/subjects/search', { subject: 'nobody' }],
  ['/v1/erasures/replay', undefined],
])('post %s answers as it says', async (path, body) => {
  expect(await ask('post', path, path, JSON.stringify(body))).toBe(200)
})
