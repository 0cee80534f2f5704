// The auditor's OpenAPI document names every route that its code has, and no other.
import { expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { sourceFiles } from './source-files.ts'

const { paths } = JSON.parse(
  readFileSync(new URL('../../services/auditor/openapi.json', import.meta.url), 'utf8'),
) as { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> }

const documented = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method} ${path}`),
)

/** As the code writes them: `:id` is a parameter, what begins with a prefix stands below both. */
const ROUTE = /\bserver\.(get|post|put|delete)(?:<[^(]*>)?\(\s*(['`])([^'`]+)\2/g

const written = sourceFiles('.ts')
  .filter(({ path }) => path.startsWith('services/auditor/src/'))
  .flatMap(({ text }) => [...text.matchAll(ROUTE)])
  .flatMap(([, method = '', , path = '']) =>
    path.startsWith('${prefix}')
      ? ['', '/chains/:chain'].map((prefix) => `${method} ${path.replace('${prefix}', prefix)}`)
      : [`${method} ${path}`],
  )
  .map((route) => route.replace('/*', '/:tile').replaceAll(/:(\w+)/g, '{$1}'))

it('names every route, and no other', () => {
  expect(written.length).toBeGreaterThan(20)
  const probes = ['get /healthz', 'get /readyz']
  expect([...new Set([...written, ...probes])].toSorted()).toEqual(documented.toSorted())
})
