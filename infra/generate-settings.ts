// Writes settings.md from what `baton settings` lists; with --check it only says whether it is up to date.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
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
const TARGET = fileURLToPath(new URL('settings.md', import.meta.url))
const COMMAND_LINE = fileURLToPath(new URL('../services/cli/src/main.ts', import.meta.url))

const INTRODUCTION = `# Settings

Settings are environment variables. A process checks all of its own before it does anything, and reports everything that is wrong in
one message. An empty variable counts as absent. \`npm run baton -- settings\` prints the same rows; \`-- settings relay\` only those of
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

function readTarget(): string {
  try {
    return readFileSync(TARGET, 'utf8')
  } catch {
    return ''
  }
}

const check = process.argv.includes('--check')
const wanted = page(listSettings())
if (wanted !== readTarget()) {
  process.stderr.write(`${check ? 'out of date' : 'written'}: infra/settings.md\n`)
  if (check) process.exitCode = 1
  else writeFileSync(TARGET, wanted)
}
