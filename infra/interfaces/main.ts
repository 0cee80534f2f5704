// `npm run interfaces`: an instance of its own serves, and the tools that others check such interfaces with read what it says of itself.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withOwnInstance } from '../own-instance.ts'
import type { OwnInstance } from '../own-instance.ts'
import { installWorkspace } from '../own-workspace.ts'
import { run } from '../run.ts'

const FOLDER = import.meta.dirname
const TOOLS = join(FOLDER, 'node_modules', '.bin')

const say = (words: string) => process.stderr.write(`${words}\n`)

/** What one tool said of one thing. It found nothing where its exit code is 0. */
interface Found {
  readonly tool: string
  readonly what: string
  readonly exitCode: number
  readonly output: string
}

const SPECTRAL = {
  tool: 'spectral',
  command: [
    join(TOOLS, 'spectral'),
    'lint',
    '--ruleset',
    join(FOLDER, 'spectral.yaml'),
    '--fail-severity',
    'warn',
  ],
}
const REDOCLY = {
  tool: 'redocly',
  command: [
    join(TOOLS, 'redocly'),
    'lint',
    '--config',
    join(FOLDER, 'redocly.yaml'),
    '--max-problems',
    '20',
  ],
}
const ASYNCAPI = {
  tool: 'asyncapi',
  command: [process.execPath, join(FOLDER, 'check-asyncapi.mjs')],
}

const DESCRIBED = [
  {
    what: 'OpenAPI of the gateway',
    setting: 'BATON_GATEWAY_URL',
    path: '/openapi.json',
    readers: [SPECTRAL, REDOCLY],
  },
  {
    what: 'OpenAPI of the auditor',
    setting: 'BATON_AUDIT_URL',
    path: '/openapi.json',
    readers: [SPECTRAL, REDOCLY],
  },
  {
    what: 'AsyncAPI of the gateway',
    setting: 'BATON_GATEWAY_URL',
    path: '/asyncapi.json',
    readers: [ASYNCAPI, SPECTRAL, REDOCLY],
  },
]

async function readDescriptions(
  { home }: OwnInstance,
  settings: Readonly<Record<string, string>>,
): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const { what, setting, path, readers } of DESCRIBED) {
    const folder = await mkdtemp(join(home, 'described-'))
    const answer = await fetch(new URL(path, settings[setting]))
    await writeFile(join(folder, 'described.json'), await answer.text())
    for (const { tool, command } of readers) {
      const [program = '', ...args] = command
      found.push({
        tool,
        what,
        ...(await run(program, [...args, 'described.json'], { cwd: folder })),
      })
    }
  }
  return found
}

/** What the inspector asks of the MCP server, in each revision of the protocol. */
const ASKED = [
  ['tools/list', '--strict'],
  ['tools/call', '--tool-name', 'list_tasks', '--tool-arg', 'limit=3'],
]
const ERAS = ['legacy', 'modern']

async function inspectAll(
  { home }: OwnInstance,
  { BATON_GATEWAY_URL: url, BATON_API_KEY_FILE: keyFile = '' }: Readonly<Record<string, string>>,
): Promise<readonly Found[]> {
  const key = (await readFile(keyFile, 'utf8')).trim()
  const found: Found[] = []
  for (const era of ERAS) {
    for (const [method = '', ...rest] of ASKED) {
      const server = [`${url}/mcp`, '--transport', 'http', '--protocol-era', era]
      const header = ['--header', `Authorization: Bearer ${key}`]
      const args = ['--cli', ...server, ...header, '--method', method, ...rest]
      const ended = await run(join(TOOLS, 'mcp-inspector'), args, { cwd: home })
      const isError = /"isError":\s*true/.test(ended.output)
      found.push({
        tool: 'inspector',
        what: `MCP, ${era}: ${method}`,
        ...ended,
        exitCode: isError ? 1 : ended.exitCode,
      })
    }
  }
  return found
}

async function settingsOf({ type }: OwnInstance): Promise<Readonly<Record<string, string>>> {
  const { output } = await type(['env', '--json'])
  const [json = ''] = /^\{.*\}$/m.exec(output) ?? []
  return JSON.parse(json) as Readonly<Record<string, string>>
}

async function main(): Promise<number> {
  await installWorkspace(FOLDER, 'read the interfaces')
  const found = await withOwnInstance(async (instance) => {
    const settings = await settingsOf(instance)
    return [
      ...(await readDescriptions(instance, settings)),
      ...(await inspectAll(instance, settings)),
    ]
  })
  for (const { tool, what, exitCode, output } of found) {
    say(`  ${exitCode === 0 ? '✓' : '✗'} ${tool.padEnd(12)} ${what}`)
    if (exitCode !== 0) say(output.trimEnd())
  }
  return found.every(({ exitCode }) => exitCode === 0) ? 0 : 1
}

process.exitCode = await main()
