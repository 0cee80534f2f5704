// `new agent`: a folder with an agent of one's own that runs at once, and everything it needs to join the Baton that runs here.
import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { permanent } from '@baton/runtime'
import { IS_CHECKOUT, OWN_HOME, ROOT } from '../root.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import type { AgentTemplate, TemplateFiles } from '../templates/agent-template.ts'
import { pythonAgent } from '../templates/python-agent.ts'
import { typescriptAgent } from '../templates/typescript-agent.ts'
import { quietCommand, quoted } from '../terminal/next-steps.ts'

export type Language = 'typescript' | 'python'

interface NewAgentOptions {
  readonly name: string
  readonly language: Language
  /** A folder named by the agent, in the current one, where it is left out. */
  readonly into: string | undefined
}

export async function newAgent(
  { output, home }: Context,
  { name, language, into = name }: NewAgentOptions,
): Promise<ExitCode> {
  await requireFreeName(name)
  const folder = resolve(into)
  await requireFree(folder)
  await mkdir(dirname(folder), { recursive: true })
  // Beside its place, so that it stands there whole or not at all.
  const draft = join(dirname(folder), `.${basename(folder)}-${crypto.randomUUID()}`)
  await mkdir(draft)
  try {
    if (language === 'typescript') output.progress('packing the SDK')
    const files = await TEMPLATES[language](templateOf(name, home), draft)
    for (const [path, text] of Object.entries(files)) await writeFile(join(draft, path), text)
    await rename(draft, folder)
  } finally {
    output.endProgress()
    await rm(draft, { recursive: true, force: true })
  }
  const files = (await readdir(folder)).toSorted()
  if (output.json) output.data(JSON.stringify({ name, language, folder, files }))
  else output.data(files.map((file) => join(folder, file)).join('\n'))
  output.words(`\nThe agent ${name} is written; README.md in its folder has these commands too.`)
  const steps = STEPS[language].map((step) => `\n  ${step}`).join('')
  output.next(
    `while Baton runs\n  cd ${quoted(relative(process.cwd(), folder) || '.')}\n  eval "$(${envCommand(home)})"${steps}`,
  )
  return EXIT.fine
}

const STEPS: Readonly<Record<Language, readonly string[]>> = {
  typescript: ['npm install && npm run agent'],
  python: ['python3 agent.py'],
}

const templateOf = (name: string, home: string): AgentTemplate => ({
  name,
  envCommand: envCommand(home),
  traceCommand: `${quietCommand}${homeOption(home)} trace TASK`,
})

const envCommand = (home: string): string => `${quietCommand}${homeOption(home)} env`

const homeOption = (home: string): string => (home === OWN_HOME ? '' : ` --home ${quoted(home)}`)

const TEMPLATES: Readonly<
  Record<Language, (told: AgentTemplate, folder: string) => Promise<TemplateFiles>>
> = {
  async typescript(told, folder) {
    const typescript = await compilerVersion()
    if (!IS_CHECKOUT) return typescriptAgent({ ...told, sdk: await publishedSdk(), typescript })
    return typescriptAgent({ ...told, sdk: { tarball: await packSdk(folder) }, typescript })
  },
  async python(told) {
    const client = await readFile(join(ROOT, 'clients', 'python', 'baton.py'), 'utf8').catch(
      (cause: unknown) => Promise.reject(notInCheckout('the client in Python', cause)),
    )
    return pythonAgent({ ...told, client })
  },
}

const run = promisify(execFile)

/** Answers the name of the tarball that now stands in the folder. */
async function packSdk(folder: string): Promise<string> {
  const packer = join(ROOT, 'infra', 'packing', 'main.ts')
  try {
    const { stdout } = await run(process.execPath, [packer, 'pack', folder, '@baton/sdk'])
    return basename(stdout.trim())
  } catch (cause) {
    throw notInCheckout('the SDK', cause)
  }
}

/** The compiler with which Baton is checked. */
async function compilerVersion(): Promise<string> {
  if (!IS_CHECKOUT) return (await readManifest(ROOT)).devDependencies?.['typescript'] ?? 'latest'
  return (await readManifest(join(ROOT, 'node_modules', 'typescript'))).version
}

/** All packages of Baton are released together. */
const publishedSdk = async () => ({ range: `^${(await readManifest(ROOT)).version}` })

interface Manifest {
  readonly version: string
  readonly devDependencies?: Readonly<Record<string, string>>
}

const readManifest = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest

const notInCheckout = (what: string, cause: unknown) =>
  permanent('BATON_TEMPLATE_INCOMPLETE', `${what} could not be put into the folder`, {
    cause,
    fix: 'Run this in a checkout of Baton in which `npm run baton -- settings` works, with npm on PATH: an image has neither sources nor tools.',
  })

/** It names the agent type, a package and a folder. Two kinds of worker for one type would share its work. */
async function requireFreeName(name: string): Promise<void> {
  if (!NAME.test(name)) throw NAME_INVALID
  const { createAgents } = await import('../main-job/agents.ts')
  if (createAgents({}).some(({ type }) => type === name))
    throw permanent('BATON_USAGE', `an instance hosts an agent ${name} already`, {
      fix: 'Take another name: both would share the work.',
    })
}

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const NAME_INVALID = permanent('BATON_USAGE', 'an agent cannot be called so here', {
  fix: 'Take lower-case letters, digits and single dashes, a letter first, such as word-count.',
})

async function requireFree(folder: string): Promise<void> {
  const there = await lstat(folder).catch(() => undefined)
  if (there === undefined) return
  const found = there.isDirectory() ? await readdir(folder) : undefined
  if (found?.length === 0) return
  const what = found === undefined ? 'is no folder' : 'is not empty, and nothing there is replaced'
  throw permanent('BATON_USAGE', `${folder} ${what}`, {
    fix: 'Name an empty folder, or one that is not there yet, with --into.',
  })
}
