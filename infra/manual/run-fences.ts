// Types the shell blocks of a page in order, as its reader would, and compares with what the page shows below them.
import { spawn } from 'node:child_process'
import { fencesOf } from './markdown.ts'

const BLOCK_MAX_MS = 120_000

export interface Terminal {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Makes a block fit this machine: how `npm run baton` is called, ports, what words in capitals stand for. */
  readonly here: (block: string) => Promise<string>
}

export interface Typed {
  readonly line: number
  readonly block: string
  readonly exitCode: number
  readonly output: string
  /** What the page shows and the block did not print. */
  readonly missing: readonly string[]
}

/** Ids, times and amounts differ from run to run, the width of columns with them; how well a young record is kept is a matter of seconds. */
const comparable = (line: string): string =>
  line
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f-]+)?|[\d,.]*\d/g, '#')
    .replaceAll(/\b(?:committed|sealed|witnessed|archived)\b/g, 'kept')
    .replaceAll(/ +/g, ' ')
    .trim()

/** Variables that one block exports are there in the next ones; programs in the background end with the page. */
export async function typeBlocks(
  page: string,
  terminal: Terminal,
  wanted: (block: string) => boolean = () => true,
): Promise<readonly Typed[]> {
  const fences = fencesOf(page)
  const groups: number[] = []
  const typed: Typed[] = []
  let exported = ''
  try {
    for (const [index, { language, text, line }] of fences.entries()) {
      if (language !== 'sh' || !wanted(text)) continue
      const block = await terminal.here(text)
      const { exitCode, output, pid } = await typeBlock(`${exported}${block}`, terminal)
      if (pid !== undefined) groups.push(pid)
      exported += block
        .split('\n')
        .filter((one) => one.startsWith('export '))
        .map((one) => `${one}\n`)
        .join('')
      const below = fences[index + 1]
      const shown = below?.language === '' && follows(page, line, below.line) ? below.text : ''
      const printed = new Set(output.split('\n').map(comparable))
      const missing = shown
        .split('\n')
        .filter((one) => one.trim() !== '' && !one.startsWith('…') && !printed.has(comparable(one)))
      typed.push({ line, block: text, exitCode, output, missing })
    }
  } finally {
    for (const pid of groups) endGroup(pid)
  }
  return typed
}

/** Whether nothing stands between a block and the one below it. */
function follows(page: string, first: number, second: number): boolean {
  const between = page
    .split('\n')
    .slice(first, second - 1)
    .join('\n')
  return /```\s*$/.test(between) && (between.match(/^```/gm) ?? []).length === 1
}

async function typeBlock(
  block: string,
  { cwd, env }: Terminal,
): Promise<{ exitCode: number; output: string; pid: number | undefined }> {
  // In a group of its own, so that what it leaves in the background can be ended.
  const child = spawn('bash', ['-c', block], {
    cwd,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    timeout: BLOCK_MAX_MS,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    // Not `close`: a program in the background keeps the pipes open.
    child.once('exit', (code) => setImmediate(resolve, code ?? 1))
  })
  return { exitCode, output, pid: child.pid }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
