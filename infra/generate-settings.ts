// Writes settings.md, and the names by which runtime knows a misspelt one, from what `baton settings` lists; with --check it only says whether
// they are up to date.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { markdownTable } from './markdown-table.ts'

interface Setting {
  readonly name: string
  readonly kind: string
  readonly default: string
  readonly bounds: string
  readonly help: string
  readonly services: readonly string[]
}

/** In the order in which a handoff meets them; the command line comes last. */
const SERVICES = [
  'gateway',
  'sender',
  'relay',
  'receiver',
  'contract-review',
  'auditor',
  'sealer',
  'archiver',
  'witness',
  'cli',
] as const
const PAGE = fileURLToPath(new URL('settings.md', import.meta.url))
const NAMES = fileURLToPath(
  new URL('../packages/runtime/src/generated/setting-names.ts', import.meta.url),
)
const COMMAND_LINE = fileURLToPath(new URL('../services/cli/src/main.ts', import.meta.url))

const INTRODUCTION = `# Settings

Settings are environment variables. A process checks all of its own before it does anything, and reports everything that is wrong in
one message. An empty variable counts as absent. A variable that begins with \`BATON_\` and is spelled nearly as a setting of any process, with one
or two letters wrong, keeps it from starting; other names are an installation's own. In Kubernetes set \`enableServiceLinks: false\`, or services that
are called \`baton-…\` make variables of such names.

Each may stand in a file instead: \`NAME_FILE\` is the path of a UTF-8 file of at most 64 KiB whose text, without one newline at its end, is the
value of \`NAME\`. Both at once are refused, and so is a file that is empty or cannot be read. A secret, or the URL of a database or Redis, is
not taken from a file that others than its owner and group may read, or that another than its owner may write: mode 0400 or 0440. In Kubernetes
mount it with \`defaultMode: 0440\` and an \`fsGroup\`; for Docker give the secret a \`mode\` and \`uid\`. Files are read once, at the start.

A secret has at least 32 characters, as \`openssl rand -hex 24\` or \`openssl rand -base64 32\` makes them; placeholders, repeated texts and
alphabets are refused, and so are two secrets of one process that are the same. Keys of other people's services are taken as they are.

\`npm run baton -- settings\` prints the same rows; \`-- settings relay\` only those of
one process, \`-- settings --json\` as JSON. How the pieces fit together is in [README.md](README.md).

This file is written by \`node infra/generate-settings.ts\`; do not edit it.`

/** The settings as the command line lists them, so that page and command cannot differ. */
function listSettings(): readonly Setting[] {
  const environment = { PATH: process.env['PATH'] }
  const listed = execFileSync(process.execPath, [COMMAND_LINE, 'settings', '--json'], {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return JSON.parse(listed) as readonly Setting[]
}

function page(settings: readonly Setting[]): string {
  const sections = SERVICES.map((service) => {
    const own = settings.filter(({ services }) => services.includes(service))
    return `## ${service}\n\n${table(own)}`
  })
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`
}

const HEADINGS = ['setting', 'kind', 'default', 'allowed', 'meaning']

function table(settings: readonly Setting[]): string {
  const rows = settings.map((setting) => [
    `\`${setting.name}\``,
    setting.kind,
    shownDefault(setting),
    setting.bounds.replaceAll('|', '\\|'),
    setting.help.replaceAll('|', '\\|'),
  ])
  return markdownTable(HEADINGS, rows)
}

function shownDefault({ default: preset }: Setting): string {
  if (preset === 'required') return '**required**'
  return preset === '-' ? 'none' : `\`${preset}\``
}

function names(settings: readonly Setting[]): string {
  const all = [...new Set(settings.map(({ name }) => name))].toSorted()
  return `// The settings of every process. Written by infra/generate-settings.ts; do not edit it.
export const SETTING_NAMES: readonly string[] = [
${all.map((name) => `  '${name}',\n`).join('')}]
`
}

function readTarget(target: string): string {
  try {
    return readFileSync(target, 'utf8')
  } catch {
    return ''
  }
}

const check = process.argv.includes('--check')
const settings = listSettings()
const targets = [
  { target: PAGE, wanted: page(settings) },
  { target: NAMES, wanted: names(settings) },
]
for (const { target, wanted } of targets) {
  if (wanted === readTarget(target)) continue
  const name = relative(fileURLToPath(new URL('..', import.meta.url)), target)
  process.stderr.write(`${check ? 'out of date' : 'written'}: ${name}\n`)
  if (check) process.exitCode = 1
  else writeFileSync(target, wanted)
}
