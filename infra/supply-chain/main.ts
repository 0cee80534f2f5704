// `npm run supply -- sbom [--image] | licences | audit | scan [IMAGE]`: what this checkout is made of, under which licences, and what is known against it.
import { spawnSync } from 'node:child_process'
import { NEEDED } from '../image/settings.mjs'
import { HOST, ROOT } from '../setup-step.mjs'
import { scanImage, tellScan } from './image-scan.ts'
import { installedPackages } from './installed-packages.ts'
import { isAllowed, licenceThatCounts } from './licences.ts'
import { withTools } from './sbom.ts'

const EXIT = { fine: 0, failure: 1, usage: 2, cannotSay: 4 }
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const PNPM_MAX_MS = 120_000
const IMAGE = 'baton:0.1.0'

const say = (words: string): void => void process.stderr.write(`${words}\n`)

const COMMANDS: Readonly<Record<string, () => number>> = {
  /** CycloneDX 1.6 on stdout; with --image of what is in the image, and what fetches it is not. */
  sbom() {
    const isImage = process.argv.includes('--image')
    const options = [
      '--sbom-format',
      'cyclonedx',
      '--sbom-spec-version',
      '1.6',
      '--sbom-type',
      'application',
    ]
    const scope = isImage ? NEEDED : []
    const { status, stdout, words } = pnpm('sbom', ...options, ...scope)
    if (status !== 0) return cannotSay(words)
    process.stdout.write(`${isImage ? stdout.trim() : withTools(stdout, HOST)}\n`)
    return EXIT.fine
  },

  /** Each licence with its packages on stdout; 1 where one is not on the list of those that are allowed. */
  licences() {
    const packages = installedPackages()
    const byLicence = Map.groupBy(packages, (one) => licenceThatCounts(one) ?? 'none that it names')
    for (const [licence, some] of [...byLicence].toSorted(([a], [b]) => a.localeCompare(b, 'en'))) {
      const names = some.map(({ name, version }) => `${name}@${version}`)
      process.stdout.write(`${licence} (${some.length}): ${names.join(', ')}\n`)
    }
    const refused = packages.filter((one) => !isAllowed(licenceThatCounts(one)))
    for (const { name, version, licence } of refused)
      say(
        `${name}@${version} is under ${licence ?? 'no licence'}, which infra/supply-chain/licences.ts does not allow`,
      )
    return refused.length === 0 ? EXIT.fine : EXIT.failure
  },

  /** What is publicly known; 1 where something is, and 4 where the registry does not answer the question. */
  audit() {
    const { status, stdout, words } = pnpm('audit', '--json')
    const found = countsOf(stdout)
    if (found === undefined) return cannotSay(words)
    process.stdout.write(`${stdout.trim()}\n`)
    const total = Object.values(found).reduce((sum, count) => sum + count, 0)
    say(
      total === 0 ? 'nothing is known against what is installed' : `${total} known vulnerabilities`,
    )
    return total === 0 && status === 0 ? EXIT.fine : EXIT.failure
  },

  /** What the distribution's archives know against the packages of an image; 1 where they have a newer one, 4 where they cannot be asked. */
  scan() {
    const image = process.argv[3] ?? IMAGE
    try {
      const scan = scanImage(image)
      process.stdout.write(`${image}: ${tellScan(scan)}`)
      return scan.outdated.length === 0 ? EXIT.fine : EXIT.failure
    } catch (error) {
      say(`cannot say: ${error instanceof Error ? error.message : String(error)}`)
      say(
        '  Check that a Docker engine answers that has the image, that the image is of Debian, and that its archives can be reached from it.',
      )
      return EXIT.cannotSay
    }
  },
}

function pnpm(...args: readonly string[]) {
  const options = {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: PNPM_MAX_MS,
    maxBuffer: ANSWER_BYTES_MAX,
  } as const
  const { status, stdout, stderr, error } = spawnSync('pnpm', args, options)
  return { status, stdout: stdout ?? '', words: error?.message ?? `${stderr}${stdout}`.trim() }
}

function cannotSay(words: string): number {
  say(`cannot say: ${words}`)
  say(
    '  Check that pnpm 12 is on PATH, and that the registry answers (`pnpm config get registry`); a mirror may not know this question.',
  )
  return EXIT.cannotSay
}

/** By severity; undefined for an answer that is no report. */
function countsOf(text: string): Readonly<Record<string, number>> | undefined {
  try {
    const report = JSON.parse(text) as { metadata?: { vulnerabilities?: Record<string, number> } }
    return report.metadata?.vulnerabilities
  } catch {
    return undefined
  }
}

const command = COMMANDS[process.argv[2] ?? '']
if (command === undefined) {
  say(`usage: npm run supply -- ${Object.keys(COMMANDS).join(' | ')}`)
  process.exitCode = EXIT.usage
} else process.exitCode = command()
