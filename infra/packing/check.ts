// Tries every package as those do who install it: what the linters of packages find, the types of the examples, and each example and
// command of their pages under every Node that they are for.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fetchTools, isFetched, toolFolder } from '../fetch-tools.mjs'
import { installWorkspace } from '../own-workspace.ts'
import { pinnedTriedNodes } from '../pinned-tools.mjs'
import { HOST } from '../setup-step.mjs'
import type { Packed } from './pack.ts'
import { checkTypes, openProject, runExample, startBaton } from './project.ts'
import type { Project, RunningBaton } from './project.ts'
import { PUBLIC_PACKAGES } from './public-packages.ts'
import { ROOT } from './workspace.ts'

const run = promisify(execFile)
const TOOLS = join(import.meta.dirname, 'tools')

/** What was looked at of one package, and what is wrong there; empty where nothing is. */
export interface Checked {
  readonly package: string
  readonly check: string
  readonly findings: readonly string[]
}

type Say = (words: string) => void

export async function checkPackages(
  packed: readonly Packed[],
  say: Say,
): Promise<readonly Checked[]> {
  const nodes = [...(await fetchNodes(say)), process.execPath]
  say('what the linters of packages find')
  const linted = await lint(packed)
  say('installing all of it in an empty project')
  const project = await openProject(packed, { source: 'npm' })
  try {
    say('the types of the examples')
    const typed = await typeCheck(packed, project)
    const ran: Checked[] = []
    for (const node of nodes) ran.push(...(await runAll(packed, { project, node, say })))
    return [...linted, ...typed, ...ran]
  } finally {
    await project.remove()
  }
}

/** The oldest first. */
async function fetchNodes(say: Say): Promise<readonly string[]> {
  const found: string[] = []
  const tools = pinnedTriedNodes(HOST)
  if (tools.length === 0) say(`no other Node is pinned for ${HOST}: only this one is tried`)
  for (const tool of tools) {
    const folder = join(ROOT, '.baton', 'nodes', tool.version)
    if (!isFetched(folder, tool)) {
      say(`fetching Node ${tool.version}`)
      const { status } = await fetchTools([tool], { folder, env: process.env })
      if (status !== 0) throw new Error(`the registry has no ${tool.name}@${tool.version}`)
    }
    found.push(join(toolFolder(folder, tool.name), 'bin', 'node'))
  }
  return found
}

interface Linted {
  readonly tarball: string
  readonly publint: readonly string[]
  readonly types: readonly string[]
}

async function lint(packed: readonly Packed[]): Promise<readonly Checked[]> {
  await installWorkspace(TOOLS, 'check packages')
  const args = [join(TOOLS, 'lint.mjs'), ...packed.map(({ tarball }) => tarball)]
  const { stdout } = await run(process.execPath, args)
  const all = JSON.parse(stdout) as readonly Linted[]
  return packed.flatMap(({ manifest: { name }, tarball }) => {
    const own = all.find((one) => one.tarball === tarball)
    const isProgram = PUBLIC_PACKAGES.some((told) => told.name === name && told.program)
    return [
      { package: name, check: 'publint', findings: own?.publint ?? [NOT_LOOKED_AT] },
      // A program has nothing to import.
      { package: name, check: 'attw', findings: isProgram ? [] : (own?.types ?? [NOT_LOOKED_AT]) },
    ]
  })
}

const NOT_LOOKED_AT = 'was not looked at'

/** A finding belongs to the package that it names, or whose example it is in. */
async function typeCheck(packed: readonly Packed[], project: Project): Promise<readonly Checked[]> {
  const found = [await checkTypes(project, 'nodenext'), await checkTypes(project, 'bundler')]
  const lines = [...new Set(found.flatMap((text) => text.split('\n')))].filter(
    (line) => line !== '',
  )
  return packed.map(({ manifest: { name } }) => {
    const files = project.examples.filter((one) => one.package === name).map((one) => one.name)
    const own = [`node_modules/${name}/`, ...files]
    const findings = lines.filter((line) => own.some((place) => line.startsWith(place)))
    return { package: name, check: 'types', findings }
  })
}

interface Run {
  readonly project: Project
  readonly node: string
  readonly say: Say
}

async function runAll(
  packed: readonly Packed[],
  { project, node, say }: Run,
): Promise<readonly Checked[]> {
  const { stdout } = await run(node, ['--version'])
  const check = `Node ${stdout.trim().slice('v'.length)}`
  say(`every example and command under ${check}`)
  const baton = await startBaton(project, node).catch((error: unknown) => error as Error)
  try {
    const checked: Checked[] = []
    for (const { manifest } of packed)
      checked.push({
        package: manifest.name,
        check,
        findings: await runPage(manifest.name, { project, node, baton }),
      })
    return checked
  } finally {
    if (!(baton instanceof Error)) await baton.stop()
  }
}

interface Page {
  readonly project: Project
  readonly node: string
  /** What kept it from starting, else. */
  readonly baton: RunningBaton | Error
}

/** What is wrong with the page of one package. */
async function runPage(name: string, { project, node, baton }: Page): Promise<readonly string[]> {
  const examples = project.examples.filter((one) => one.package === name)
  const commands = project.commands.filter((one) => one.package === name)
  const findings: string[] = []
  if (examples.length + commands.length === 0) findings.push('its page has no example')
  if (baton instanceof Error && name === '@baton/cli') findings.push(baton.message)
  const env = baton instanceof Error ? process.env : baton.env
  const isThere = !(baton instanceof Error)
  for (const example of examples.filter(({ needsBaton }) => isThere || !needsBaton)) {
    const printed = await runExample(project, example, { node, env }).catch(said)
    if (printed !== (example.prints ?? printed))
      findings.push(`${example.name} printed ${JSON.stringify(printed)}`)
  }
  for (const { typed } of isThere ? commands : [])
    await run('sh', ['-euc', typed], { cwd: project.folder, env }).catch((error: unknown) =>
      findings.push(`${typed.trim()}: ${said(error)}`),
    )
  return findings
}

const said = (error: unknown): string => (error as Error).message
