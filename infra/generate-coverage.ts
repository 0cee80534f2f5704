// Writes protocols/coverage.md: every feature of the canonical handoff and of four published protocols with the tests that show it, found by the feature
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
  E: {
    title: 'The canonical handoff, v2.0 and v2.1',
    page: '../../schemas/README.md',
    features: [
      'eighteen required fields, published schemas: `curl $BATON/schemas/handoff/2.1.json`',
      'one builder for agents and senders',
      'long conversations are condensed for the receiver’s window, by the extract or a model, at 5 % of the upstream call at most',
      '`validateHandoffMessage(message)`: valid, or the reason and every detail',
      'the schema layer: required fields, types, versions',
      'completeness: what was done before, and the state that the receiver registered',
      'the safety scan, dead letters and their appeal: `npm run baton -- dlq ls`',
      'an exhausted budget executes nothing',
      'what the sender can mend is returned with its details',
      'signed, and verified before anything is believed',
      'the record stands before anything executes, and nothing takes it away',
      'without a record nothing executes',
      'a chain of hashes in a database of its own: `npm run baton -- verify`',
      'cost in money and tokens by hop, agent and path: `npm run baton -- trace TASK`',
      'rollback to the checkpoint, an alert, and a person after three failures: `npm run baton -- escalations`',
      'checkpoint and dispatch in one transaction',
      'latency from dispatch to acceptance, with an objective for each transport: `npm run baton -- slo`',
      'the six rates, each with its alert: `npm run baton -- slo`',
      'the literal query by task: `npm run baton -- trace TASK`',
      'the budget is carried on, and checked before anything executes',
      'texts are compressed before they are encrypted; hot and cold tiers',
      'what others wrote is data in the prompt, in the user turn',
      'each failure mode is noticed as the table of the source says',
      'who got what, concluded what, at what cost, with what result: `npm run baton -- evidence TASK`',
      'data stays in its jurisdiction, or leaves it on a named ground',
      'the data of one person is erased, and the log still verifies: `npm run baton -- erase SUBJECT`',
      'what comes out is streamed in chunks, each checked as it comes',
      'several receivers, a full copy for each, and what joins them: `npm run up`, then `npm run baton -- trace TASK`',
      'versions: minors are understood, majors refused: `npm run baton -- schema diff OLDER NEWER`',
      'the queue, in-process, and a direct call over HTTP: `npm run baton -- send --help`',
      'the source’s tests 13.1',
      'the source’s tests 13.2',
      'the source’s test 13.3',
      'chains of eight; acceptance over a long run: `npm run bench -- acceptance`',
    ],
  },
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
const FEATURE = /\b[EPSRW]\d\d\b/g

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
const written = `# What of the canonical handoff and the four protocols beside it is built, and which test shows it

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
