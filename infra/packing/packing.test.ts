// What npm is given stands alone: a strict project outside this checkout installs it, type-checks on it, and runs each example as it
// stands on the package's page.
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from './pack.ts'
import type { Packed } from './pack.ts'
import type { Example } from './examples.ts'
import { checkTypes, openProject, runExample, startBaton } from './project.ts'
import type { Project } from './project.ts'
import { PUBLIC_PACKAGES } from './public-packages.ts'
import { folderOf, ROOT } from './workspace.ts'

const run = promisify(execFile)

let tarballs = ''
let packed: readonly Packed[] = []
let project: Project

beforeAll(async () => {
  tarballs = await mkdtemp(join(tmpdir(), 'baton-tarballs-'))
  packed = await pack(PUBLIC_PACKAGES, { target: tarballs })
  project = await openProject(packed, { source: 'this checkout' })
}, 480_000)

afterAll(async () => {
  await project?.remove()
  await rm(tarballs, { recursive: true })
}, 60_000)

it('asks for nothing of ours that is not public', () => {
  const asked = packed.flatMap(({ manifest }) => Object.keys(manifest.dependencies))
  const ours = asked.filter((name) => name.startsWith('@baton/'))
  const names = PUBLIC_PACKAGES.map(({ name }) => name as string)
  expect(ours.filter((name) => !names.includes(name))).toEqual([])
})

it.each(PUBLIC_PACKAGES)('$name shows what is run below', ({ name, entries }) => {
  const programs = project.examples.filter((example) => example.package === name)
  expect(programs.length).toBeGreaterThanOrEqual(entries.length > 0 ? 1 : 0)
})

it('type-checks strictly', async () => {
  expect(await checkTypes(project, 'nodenext')).toBe('')
}, 240_000)

it('says of every package what its next release changes', () => {
  const pending = globSync('.changeset/*.md', { cwd: ROOT }).map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  )
  const unsaid = packed.filter(
    ({ manifest: { name, version } }) =>
      !pending.some((text) => text.includes(`'${name}': `)) &&
      !readFileSync(join(folderOf(name), 'CHANGELOG.md'), 'utf8').includes(`## ${version}`),
  )
  expect(unsaid.map(({ manifest: { name } }) => name)).toEqual([])
})

const printedBy = async (examples: readonly Example[], env = process.env) => {
  const printed = new Map<string, string>()
  for (const example of examples)
    printed.set(example.name, await runExample(project, example, { env }))
  return printed
}

const saidBy = (examples: readonly Example[]) =>
  new Map(examples.map(({ name, prints }) => [name, prints]))

describe('runs as it stands', () => {
  it('every example that needs no Baton, and prints what its page says', async () => {
    const examples = project.examples.filter(({ needsBaton }) => !needsBaton)
    expect(await printedBy(examples)).toEqual(saidBy(examples))
  }, 60_000)

  it('the verifier, on the evidence that it brings', async () => {
    const example = 'node_modules/@baton/verifier/example'
    const args = [`${example}/evidence.tar`, '--policy', `${example}/auditor.policy`]
    const { stdout } = await run('node_modules/.bin/baton-verify', args, { cwd: project.folder })
    expect(stdout).toMatch(/^VALID: /m)
  })

  it('the command line with all services, and the examples and commands that need them', async () => {
    const baton = await startBaton(project)
    try {
      const examples = project.examples.filter(({ needsBaton }) => needsBaton)
      expect(await printedBy(examples, baton.env)).toEqual(saidBy(examples))
      for (const { typed } of project.commands)
        await run('sh', ['-euc', typed], { cwd: project.folder, env: baton.env })
    } finally {
      await baton.stop()
    }
  }, 300_000)
})
