// What of this checkout is for programs outside of it, and what each package carries. The rest is decided here for all of them.
import type { Program } from './bundle-program.ts'

/** A package that npm is given. Its folder has its `package.json`, `README.md` and `CHANGELOG.md`. */
export interface PublicPackage {
  readonly name: `@baton/${string}`
  readonly folder: string
  readonly description: string
  readonly keywords: readonly string[]
  /** Those of the manifest's `exports` that programs may import. */
  readonly entries: readonly string[]
  /** What it is besides: processes, and what they read. */
  readonly program?: Program
  /** Modules that nothing imports, such as threads, by the name that they are loaded by. */
  readonly threads?: Readonly<Record<string, string>>
  /** Commands, by the name that is typed: a file of `files`. */
  readonly bin?: Readonly<Record<string, string>>
  /** Carried byte for byte: its place in the package, and that in this checkout. */
  readonly files?: Readonly<Record<string, string>>
  /** Public packages that it asks for instead of carrying their code. */
  readonly asksFor?: readonly string[]
  /** Whether it runs where there is no Node: browsers, Deno, Bun. */
  readonly runsAnywhere?: boolean
}

/** The oldest Node that all of it is tried on. */
export const ENGINES = { node: '>=22.19' }
export const TARGET = 'node22'

/**
 * What is installed beside a library may be newer, of the same major version, so that it is there once for all who need it. A program gets
 * what it was tested with.
 */
export const rangeOf = (version: string, { program }: Pick<PublicPackage, 'program'>): string =>
  program === undefined ? `^${version}` : version

const SERVICES = ['archiver', 'auditor', 'cli', 'gateway', 'receiver', 'relay', 'sealer', 'witness']

const LEDGER = 'packages/ledger/verifier'

const adapter = (name: string, framework: string): PublicPackage => ({
  name: `@baton/${name}`,
  folder: `packages/adapters/${name}`,
  description: `Durable handoffs for ${framework}: hand over, host agents, carry messages.`,
  keywords: ['agents', 'handoff', name],
  entries: ['.'],
  asksFor: ['@baton/sdk'],
})

const ADAPTERS = [
  adapter('ai-sdk', 'the Vercel AI SDK'),
  adapter('langgraph', 'LangGraph'),
  adapter('mastra', 'Mastra'),
  adapter('openai-agents', 'the OpenAI Agents SDK'),
]

export const PUBLIC_PACKAGES: readonly PublicPackage[] = [
  {
    name: '@baton/sdk',
    folder: 'packages/sdk',
    description: 'Define agents, host them and send handoffs with Baton.',
    keywords: ['agents', 'handoff', 'durable', 'outbox', 'audit', 'agent-skills'],
    entries: ['.', './sw4rm'],
    threads: { 'large-work-thread': 'packages/engine/src/large-work-thread.ts' },
    files: { 'skills/baton/SKILL.md': 'packages/sdk/skills/baton/SKILL.md' },
  },
  {
    name: '@baton/protocol',
    folder: 'packages/protocol',
    description: 'The handoff message of Baton: build, sign, parse, validate and judge it. No I/O.',
    keywords: ['agents', 'handoff', 'json-schema', 'signature'],
    entries: [
      '.',
      './dialects/handoff-v01',
      './dialects/handoffs-api',
      './dialects/session',
      './dialects/sw4rm',
    ],
  },
  {
    name: '@baton/ledger',
    folder: 'packages/ledger',
    description:
      'The audit log of Baton as arithmetic: records, hashes, trees, signed notes, proofs and bundles. No dependency.',
    keywords: ['audit', 'transparency-log', 'merkle-tree', 'tlog', 'signed-note'],
    entries: ['.'],
    files: { 'FORMAT.md': `${LEDGER}/FORMAT.md` },
  },
  {
    name: '@baton/verifier',
    folder: 'packages/verifier',
    description:
      'Verifies an evidence bundle of Baton offline, against a policy of your own. No dependency.',
    keywords: ['audit', 'verify', 'evidence', 'transparency-log'],
    entries: ['.'],
    bin: { 'baton-verify': 'bin/baton-verify.mjs' },
    files: {
      'bin/baton-verify.mjs': `${LEDGER}/generated/baton-verify.mjs`,
      'FORMAT.md': `${LEDGER}/FORMAT.md`,
      'example/evidence.tar': 'packages/verifier/example/evidence.tar',
      'example/auditor.policy': 'packages/verifier/example/auditor.policy',
    },
  },
  {
    name: '@baton/client',
    folder: 'clients/typescript',
    description:
      'Baton over HTTP on nothing but fetch: for browsers, Deno, Bun and Node. No dependency.',
    keywords: ['agents', 'handoff', 'client', 'fetch', 'http'],
    entries: ['.'],
    runsAnywhere: true,
  },
  ...ADAPTERS,
  {
    name: '@baton/cli',
    folder: 'services/cli',
    description:
      'Baton whole: every process, an instance of one’s own on this machine, and the command line.',
    keywords: ['agents', 'handoff', 'durable', 'outbox', 'audit', 'cli'],
    entries: [],
    bin: { baton: 'services/cli/src/main.js' },
    program: {
      modules: [
        ...SERVICES.map((name) => `services/${name}/src/main.ts`),
        'services/cli/src/main-job/agents.ts',
        'services/cli/src/gamedays/agents.ts',
        'services/cli/src/gamedays/moved-clock.ts',
        'packages/engine/src/large-work-thread.ts',
      ],
      reads: [
        'clients/python/baton.py',
        'infra/runbooks',
        'packages/audit/migrations',
        'packages/audit/src/generated',
        'packages/ledger/verifier/generated/page.html',
        'packages/store/migrations',
        'schemas',
        'services/gateway/proto',
      ],
    },
  },
]
