// `npm run bench -- scanner`: what a scan costs, by size and kind of text, when it is seen for the first time and again, and what the scanner holds.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { randomFrom } from '@baton/testkit'
import type { SeededRandom } from '@baton/testkit'
import { MACHINE, recordMeasurements } from './results.ts'
import type { Measurement } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'

const HELP = `npm run bench -- scanner [options]
  --texts FILE   scans the texts of a file as well: JSON lines with "text", cut into pieces of each size
  --count N      texts of each kind of 4 KiB; fewer where they are longer (400)
  --seed N       what is drawn (1)
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  texts: { type: 'string' },
  count: { type: 'string', default: '400' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const SIZES = [1_024, 4_096, 65_536, 1_048_576]
const BASE_SIZE = 4_096
const COUNT_MIN = 3
/** Of 4 KiB, in milliseconds. */
const PROMISED = 'p50 0.3, p99 1 ms of a first scan'

const WORDS =
  `the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were her all she there would their we him been has when who will more no if out so said what up its about into than them can only other new some could time these two may then do first any my now such like our over man me even most made after also did many before must through back years where much your way well down should because each just those people how too little state good very make world still own see men work long get here between both life being under never day same another know while last might us great old year off come since against go came right used take three states himself few house use during without again place american around however home small found thought went say part once general high upon school every don't does got united left number course war until always away something fact though water less public put think almost hand enough far took head yet government system better set told nothing night end why called didn't eyes find going look asked later knew point next program city business give group toward young days let room president side social given present several order national possible rather second face per among form important often things looked early white case john become large big need four within felt children along saw best church ever least power development light thing seemed family interest want members mind country area others turned although done open god service certain kind problem began different door thus help sense means whole matter please password account transfer approve review invoice report message email request agent tool output user data`.split(
    ' ',
  )

const say = (text: string): void => void process.stderr.write(`${text}\n`)

const wordsOf = (random: SeededRandom, count: number): string =>
  Array.from({ length: count }, () => random.pick(WORDS)).join(' ')
const hexOf = (random: SeededRandom, length: number): string =>
  Array.from({ length }, () => random.integer(0, 15).toString(16)).join('')
const uuidOf = (random: SeededRandom): string =>
  [8, 4, 4, 4, 12].map((length) => hexOf(random, length)).join('-')

/** A piece of each kind of text, never the same twice. */
const KINDS: Readonly<Record<string, (random: SeededRandom) => string>> = {
  prose: (random) => `${wordsOf(random, random.integer(6, 18))}. `,
  records: (random) =>
    `${JSON.stringify({ id: uuidOf(random), at: random.integer(1e9, 2e9), note: wordsOf(random, 4), sum: random.integer(1, 9e5) / 100 })}\n`,
  code: (random) =>
    `  if (${random.pick(WORDS)}_${hexOf(random, 3)} !== ${random.integer(0, 99)}) return { ${random.pick(WORDS)}: '${wordsOf(random, 2)}', ${random.pick(WORDS)}: [${random.integer(0, 9)}, 0x${hexOf(random, 4)}] }\n`,
  markup: (random) =>
    `<p class="c${hexOf(random, 2)}">${wordsOf(random, 9)} &amp; <a href="https://example.org/${hexOf(random, 6)}?q=${random.pick(WORDS)}%20x">${random.pick(WORDS)}</a></p>\n`,
  'base64 of bytes': (random) =>
    `${Buffer.from(hexOf(random, 2 * random.integer(40, 400)), 'hex').toString('base64')}\n`,
}

function generate(kind: string, { size, count, seed }: Sizes): string[] {
  const random = randomFrom(seed)
  const next = KINDS[kind] ?? (() => '')
  return Array.from({ length: count }, () => {
    let text = ''
    while (text.length < size) text += next(random)
    return text.slice(0, size)
  })
}

interface Sizes {
  readonly size: number
  readonly count: number
  readonly seed: number
}

/** The texts of a file, put together and cut anew. */
function readTexts(file: string, { size, count }: Sizes): string[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const whole = lines.map((line) => String((JSON.parse(line) as { text: unknown }).text)).join('\n')
  const pieces = Math.min(count, Math.floor(whole.length / size))
  return Array.from({ length: pieces }, (_, at) => {
    // Spread over the whole file, which often stands in order.
    const start = Math.floor((at / pieces) * (whole.length - size))
    return whole.slice(start, start + size)
  })
}

interface Row {
  readonly kind: string
  readonly bytes: number
  readonly count: number
  readonly first: Spread
  readonly again: Spread
}

const MEGABYTE = 1_048_576
const megabytes = (bytes: number): number => Math.round(bytes / MEGABYTE)

/** What a process pays before its first scan, and what the scanner holds then. */
async function start() {
  const before = process.memoryUsage()
  const importedAt = performance.now()
  const { createScanner, prepareScanner } = await import('@baton/safety')
  const createdAt = performance.now()
  const { scan } = createScanner()
  const preparedAt = performance.now()
  await prepareScanner()
  const readyAt = performance.now()
  scan({ text: 'one' })
  const { rss, heapUsed } = process.memoryUsage()
  return {
    scan,
    importMs: Math.round(createdAt - importedAt),
    createMs: Math.round(preparedAt - createdAt),
    prepareMs: Math.round(readyAt - preparedAt),
    firstScanMs: Math.round((performance.now() - readyAt) * 10) / 10,
    rssMb: megabytes(rss - before.rss),
    heapMb: megabytes(heapUsed - before.heapUsed),
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const [count, seed] = [Number(values.count), Number(values.seed)]
  const { scan, ...startUp } = await start()
  const timed = (text: string): number => {
    const startedAt = performance.now()
    scan({ currentState: { note: text } })
    return performance.now() - startedAt
  }
  const rows: Row[] = []
  for (const size of SIZES) {
    const plan = {
      size,
      seed,
      count: Math.max(COUNT_MIN, Math.ceil((count * BASE_SIZE) / Math.max(size, BASE_SIZE))),
    }
    const kinds = Object.keys(KINDS).map((kind) => ({ kind, texts: generate(kind, plan) }))
    if (values.texts !== undefined)
      kinds.push({ kind: 'texts of the file', texts: readTexts(values.texts, plan) })
    for (const { kind, texts } of kinds) {
      const first = texts.map(timed)
      const again = texts.map(timed)
      rows.push({
        kind,
        bytes: size,
        count: texts.length,
        first: spreadOf(first),
        again: spreadOf(again),
      })
    }
    say(`  ${size} bytes done`)
  }
  const { rss } = process.memoryUsage()
  print(rows, startUp, megabytes(rss))
  recordMeasurements(rows.filter(({ bytes }) => bytes >= BASE_SIZE).map(measurementOf))
  if (values.json)
    process.stdout.write(`${JSON.stringify({ machine: MACHINE, seed, startUp, rows })}\n`)
}

const spread = ({ p50, p95, p99, max }: Spread): string =>
  `p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms`

function measurementOf({ kind, bytes, count, first, again }: Row): Measurement {
  return {
    what: `scanner: ${kind}, ${bytes} bytes`,
    figures: `first ${spread(first)}; again ${spread(again)}; of ${count}`,
    ...(bytes === BASE_SIZE ? { promised: PROMISED } : {}),
  }
}

type StartUp = Omit<Awaited<ReturnType<typeof start>>, 'scan'>

function print(rows: readonly Row[], startUp: StartUp, rssMb: number): void {
  const { importMs, createMs, prepareMs, firstScanMs, rssMb: ownMb, heapMb } = startUp
  say(`\n${MACHINE}`)
  say(
    `start: import ${importMs} ms, create ${createMs} ms, prepare ${prepareMs} ms, first scan ${firstScanMs} ms`,
  )
  say(
    `memory: ${ownMb} MiB more when prepared, ${heapMb} MiB of them heap; the process ${rssMb} MiB at the end`,
  )
  for (const { kind, bytes, count, first, again } of rows) {
    say(`  ${kind.padEnd(18)} ${String(bytes).padStart(8)} bytes  first ${spread(first)}`)
    say(`  ${`${count} texts`.padEnd(33)}  again ${spread(again)}`)
  }
}

await main()
