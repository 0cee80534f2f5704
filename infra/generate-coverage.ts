// Writes protocols/coverage.md: every feature of the four published protocols with the tests that show it, found by the feature
// ids in their titles. With --check it only says whether the page is up to date; a feature without a test fails both.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TARGET = fileURLToPath(new URL('protocols/coverage.md', import.meta.url))

interface Protocol {
  readonly title: string
  readonly page: string
  /** In the order of their ids, from 01. */
  readonly features: readonly string[]
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  P: {
    title: 'Handoff v0.1',
    page: 'handoff-v01.md',
    features: [
      'the eight fields, which of them are required',
      'five statuses and no other',
      'five transitions; the other pairs are refused and change nothing',
      '`updated_at` moves with every transition, `created_at` never',
      'published JSON Schema; unknown fields survive',
      'library: create, list, accept, complete, reject, fail, offer again',
      'one storage interface; folder and Postgres pass the same tests',
      '`offer` with `--from`, `--to` and `--context`',
      '`list` by status',
      '`accept` by id or prefix',
      '`complete`, `reject`, `fail`, `reoffer` by id or prefix',
      '`show` by id or prefix',
      'a prefix of none or of several changes nothing and fails',
      'a folder that processes share; names that cannot leave it',
      'a reader never sees half a file',
      'exactly one of simultaneous accepts wins',
      'what is offered to one agent is for that agent',
      'extensions in the context, watch and webhook, validation as a choice',
      'import into Baton, and the outcome written back',
      'the walkthrough with two agents runs',
    ],
  },
  S: {
    title: 'Session handshake',
    page: 'session.md',
    features: [
      'announce: worker, capabilities, health, session',
      'announced at the start and on a new context; kept with an expiry, the latest counts',
      'routing by model tier',
      'a server that is not well is passed over',
      'nobody is overloaded',
      'no writing task to a tree that is not clean',
      'the context window sets when to compress',
      'dispatch: task, requirements, deadline, brief',
      'the reply schema is enforced',
      'the token budget is told and checked',
      'priority decides the order',
      'a deadline that has passed starts nothing',
      'result: status, tokens, next steps, reason, artifacts',
      'done, blocked, error, partial, and what each must say',
      'phase 1: the header block in prose, read and written',
      'phase 2: an announcement in the first reply',
      'phase 3: a result in reply text, also in a code fence; malformed is an error that keeps the text',
      'phase 4: blocked at once, before anything is spent',
      'other minors are understood, other majors refused, peers without announcements go on',
      'blocked: tried again, given to another, or to a person',
      'tokens as told against tokens as known',
      'the running peer’s endpoint: bearer, busy, queued, pushed reply',
      'announce, dispatch and result are in the audit trail',
    ],
  },
  R: {
    title: 'Handoffs API',
    page: 'handoffs-api.md',
    features: [
      'list, newest first, at most 100',
      'filter by status',
      'filter by recipient',
      'both filters together',
      'create: required fields, defaults, 201',
      'all seventeen fields, always',
      'six statuses that move by themselves; no success before success',
      '`taskId` is the `sourceTaskId` that was given',
      'errors in the peer’s words',
      'chains of at most five',
      'nobody hands over to themselves',
      'unknown profiles are refused',
      'nothing executes before it is approved',
      'read one',
      'approve and reject, and who did is on record',
      'what has expired is never executed',
      'whatever is wrong is 400, never 500',
      'a whole canonical handoff underneath',
    ],
  },
  W: {
    title: 'SW4RM',
    page: 'sw4rm.md',
    features: [
      'the context with its three parts and their defaults',
      'its schema: strict, or lenient as the running peer reads',
      'what messages carry besides is kept',
      'the keys of the tool state, others kept',
      'serialised byte for byte',
      'what cannot be read is an error in the peer’s words',
      'request: fields and defaults',
      'response and statuses',
      'hooks of an agent',
      'rejections in the published words',
      'routing by capability',
      'falling back over preferred agents',
      'history that is not to be preserved stays behind',
      'preparing a context: what is kept and what is dropped',
      'large contexts are packed and unpacked unseen',
      'secrets in configurations stay out of the log',
      'request, accept, reject, complete, pending, status, time-outs',
      'the gRPC service',
    ],
  },
}

interface Shown {
  readonly file: string
  readonly title: string
}

/** Titles of tests and their groups, those of `it.each(...)(...)` too. */
const TITLE =
  /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(?<quote>['"`])(?<title>(?:(?!\k<quote>)[^\\]|\\.)*)\k<quote>,/g
const FEATURE = /\b[PSRW]\d\d\b/g

/** Tests by the features that their titles name. */
function findTests(): ReadonlyMap<string, readonly Shown[]> {
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
  const shown = new Map<string, Shown[]>()
  for (const file of files
    .split('\n')
    .filter((name) => name !== '')
    .toSorted()) {
    for (const { groups } of readFileSync(`${ROOT}${file}`, 'utf8').matchAll(TITLE)) {
      const title = (groups?.['title'] ?? '').replaceAll("\\'", "'")
      for (const feature of new Set(title.match(FEATURE)))
        shown.set(feature, [...(shown.get(feature) ?? []), { file, title }])
    }
  }
  return shown
}

const idOf = (letter: string, index: number): string =>
  `${letter}${String(index + 1).padStart(2, '0')}`

function sectionOf(
  [letter, { title, page, features }]: readonly [string, Protocol],
  shown: ReadonlyMap<string, readonly Shown[]>,
): string {
  const items = features.map((feature, index) => {
    const id = idOf(letter, index)
    const tests = (shown.get(id) ?? []).map(
      ({ file, title: name }) => `  - [${name.replaceAll(/[[\]]/g, '')}](../../${file})`,
    )
    return [`- **${id}** ${feature}`, ...(tests.length === 0 ? ['  - no test yet'] : tests)].join(
      '\n',
    )
  })
  return `## ${title} ([page](${page}))\n\n${items.join('\n')}`
}

const shown = findTests()
const ids = Object.entries(PROTOCOLS).flatMap(([letter, { features }]) =>
  features.map((_, index) => idOf(letter, index)),
)
const missing = ids.filter((id) => !shown.has(id))
const written = `# What of the four protocols is built, and which test shows it

${ids.length - missing.length} of ${ids.length} features are shown by tests whose titles name them. The page is written by \`node infra/generate-coverage.ts\`; do not edit it.

${Object.entries(PROTOCOLS)
  .map((one) => sectionOf(one, shown))
  .join('\n\n')}
`

if (process.argv.includes('--check')) {
  if (readFileSync(TARGET, 'utf8') !== written) {
    console.error('infra/protocols/coverage.md is stale: node infra/generate-coverage.ts')
    process.exitCode = 1
  }
} else {
  writeFileSync(TARGET, written)
  console.info(
    `written: infra/protocols/coverage.md, ${ids.length - missing.length} of ${ids.length}`,
  )
}
if (missing.length > 0) {
  console.error(`no test names ${missing.join(', ')}`)
  process.exitCode = 1
}
