// Checkpoints, proofs, policies and tiles as C2SP writes them; examples from its texts and golang/mod.
import { createHash, generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toBase64 } from '../bytes.ts'
import { memoryTree, numberedEntries } from '../../fixtures/memory-tree.ts'
import { LedgerError } from '../ledger-error.ts'
import { formatVerifierKey } from '../note/key.ts'
import { createCosigner, createNoteSigner, signNote } from '../note/signer.ts'
import { proveConsistency, proveInclusion } from '../tree/prove.ts'
import { formatCheckpoint, parseCheckpoint } from './checkpoint.ts'
import { meetsQuorum, parsePolicy } from './policy.ts'
import type { Policy } from './policy.ts'
import { formatTlogProof, parseTlogProof } from './proof.ts'
import * as tiles from './tile.ts'
import { tileHashReader } from './tile-reader.ts'

const pkcs8 = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

describe('checkpoints', () => {
  const text =
    'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'

  test('read and write the example of the specification', () => {
    const checkpoint = parseCheckpoint(text)
    expect(checkpoint).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
    expect(formatCheckpoint(checkpoint as NonNullable<typeof checkpoint>)).toBe(text)
  })

  test.each([
    text.slice(0, -1),
    text.replace('20852163', '020852163'),
    text.replace('20852163', '-1'),
    text.replace('20852163', '9007199254740992'),
    text.replace('q2I=', 'q2J='),
    text.replace('CsUY', ''),
    `\n${text}`,
    `${text}\n`,
    'origin\n1\n',
    '',
  ])('refuse %j', (wrong) => expect(parseCheckpoint(wrong)).toBeUndefined())

  test('keep extension lines, and refuse to write what is no checkpoint', () => {
    expect(parseCheckpoint(`${text}more\n`)?.extensions).toEqual(['more'])
    const root = new Uint8Array(32)
    expect(() => formatCheckpoint({ origin: 'a\nb', size: 1, root })).toThrow(LedgerError)
    expect(() => formatCheckpoint({ origin: 'a', size: 0.5, root })).toThrow(LedgerError)
    expect(() => formatCheckpoint({ origin: 'a', size: 1, root: root.slice(1) })).toThrow(
      LedgerError,
    )
  })
})

describe('offline proofs', () => {
  const signer = createNoteSigner({ name: 'example.com/log', pkcs8: pkcs8() })
  const path = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
  const checkpoint = signNote(
    formatCheckpoint({ origin: 'example.com/log', size: 4, root: new Uint8Array(32) }),
    [signer],
  )

  test.each([[null], [Buffer.from('extra')]])('read back what was written, extra %o', (extra) => {
    const proof = { extra: extra && Uint8Array.from(extra), index: 3, path, checkpoint }
    const text = formatTlogProof(proof)
    expect(text.startsWith('c2sp.org/tlog-proof@v1\n')).toBe(true)
    expect(parseTlogProof(Buffer.from(text))).toEqual(proof)
  })

  test('refuse other versions, wrong numbers, wrong hashes and what follows no checkpoint', () => {
    const text = formatTlogProof({ extra: null, index: 3, path, checkpoint })
    const hash = toBase64(path[0] as Uint8Array)
    for (const wrong of [
      text.replace('@v1', '@v2'),
      text.replace('index 3', 'index 03'),
      text.replace('index 3', 'extra !\nindex 3'),
      text.replace(hash, hash.slice(4)),
      text.replace('\n4\n', '\n04\n'),
      text.replace(`${hash}\n`, `${hash}\n`.repeat(54)),
      text.slice(0, -1),
      '',
    ]) {
      expect(parseTlogProof(Buffer.from(wrong))).toBeUndefined()
    }
  })
})

describe('policies', () => {
  const log = formatVerifierKey(createNoteSigner({ name: 'log', pkcs8: pkcs8() }).key)
  const witnesses = Array.from({ length: 6 }, (_, at) => {
    const key = createCosigner({ name: `w${at}`, pkcs8: pkcs8() }).key
    return formatVerifierKey(key)
  })
  const [x1, x2, x3, y1, y2, y3] = witnesses as [string, string, string, string, string, string]
  const example = `# the example of the specification\nlog ${log}\n
\twitness X1 ${x1}\nwitness X2 ${x2} https://x2.example/\nwitness X3 ${x3}
group X-witnesses 2 X1 X2 X3
witness Y1 ${y1}\nwitness Y2 ${y2}\nwitness Y3 ${y3}
group Y-witnesses any Y1 Y2 Y3
group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y\n`
  const parse = (text: string) => parsePolicy(Buffer.from(text))

  test('count a quorum over groups of groups', () => {
    const parsed = parse(example)
    const policy = (parsed as { policy: Policy }).policy
    const meets = (...names: string[]) => meetsQuorum(policy, ({ name }) => names.includes(name))
    expect(policy.logs.map(({ name }) => name)).toEqual(['log'])
    expect(meets('w0', 'w1', 'w3')).toBe(true)
    expect(meets('w1', 'w2', 'w5')).toBe(true)
    expect(meets('w0', 'w3', 'w4', 'w5')).toBe(false)
    expect(meets('w0', 'w1', 'w2')).toBe(false)
    expect(meets()).toBe(false)
  })

  test('ask for nobody with quorum none', () => {
    const { policy } = parse('quorum none') as { policy: Policy }
    expect(meetsQuorum(policy, () => false)).toBe(true)
  })

  test('stay readable with keys of algorithms that are not known, which count as absent', () => {
    // ML-DSA-44 cosignatures are of type 0x06, and 1,312 bytes long.
    const material = Buffer.concat([Buffer.of(0x06), Buffer.alloc(1_312, 7)])
    const id = createHash('sha256').update(`new\n`).update(material).digest('hex').slice(0, 8)
    const vkey = `new+${id}+${material.toString('base64')}`
    const text = `log ${vkey}\nlog ${log}\nwitness N ${vkey}\nwitness X1 ${x1}\n`
    const first = text.slice(text.indexOf('\n') + 1)
    const parsed = parse(`${first}group g 1 N X1\nquorum g\n`) as { policy: Policy }
    expect(parsed.policy.logs.map(({ name }) => name)).toEqual(['log'])
    expect([...parsed.policy.unusable]).toEqual(['N'])
    expect(meetsQuorum(parsed.policy, ({ name }) => name === 'w0')).toBe(true)
    expect(meetsQuorum(parsed.policy, () => false)).toBe(false)
    const both = parse(`${first}group g all N X1\nquorum g\n`) as { policy: Policy }
    expect(meetsQuorum(both.policy, () => true)).toBe(false)
    expect(parse(`log ${vkey}\nquorum none\n`)).toMatchObject({ ok: true, policy: { logs: [] } })
    expect(parse(`${text}quorum none\n`)).toMatchObject({ ok: false, line: 3 })
    expect(parse(`log ${vkey.replace(id, '00000000')}\nquorum none`)).toMatchObject({ line: 1 })
  })

  test('keep octets above 0x7F as they are, in comments and names', () => {
    const octets = Buffer.concat([
      Buffer.from('# caf'),
      Buffer.of(0xe9),
      Buffer.from('\nwitness '),
      Buffer.of(0xe9),
      Buffer.from(` ${x1}\nquorum `),
      Buffer.of(0xe9),
    ])
    const parsed = parsePolicy(octets) as { policy: Policy }
    expect(meetsQuorum(parsed.policy, ({ name }) => name === 'w0')).toBe(true)
    expect(meetsQuorum(parsed.policy, () => false)).toBe(false)
  })

  test.each([
    ['', 1],
    ['quorum X', 1],
    ['quorum none\nquorum none', 2],
    [`witness none ${x1}\nquorum none`, 1],
    [`witness a ${x1}\nwitness b ${x1}\nquorum none`, 2],
    [`witness a ${x1}\nwitness a ${x2}\nquorum a`, 2],
    [`log ${log}\nlog ${log}\nquorum none`, 2],
    [`log ${x1}\nquorum none`, 1],
    [`witness a ${log}\nquorum a`, 1],
    [`witness a ${x1}\ngroup g 2 a\nquorum g`, 2],
    [`witness a ${x1}\ngroup g 0 a\nquorum g`, 2],
    [`witness a ${x1}\ngroup g any a a\nquorum g`, 2],
    [`witness a ${x1}\ngroup g any a\ngroup h any a\nquorum h`, 3],
    [`witness a ${x1}\ngroup g any\nquorum g`, 2],
    ['group g any none\nquorum g', 1],
    ['unknown line\nquorum none', 1],
    ['quorum none\u0007', 1],
    ['quorum none\r\n', 1],
    ['log not-a-key\nquorum none', 1],
  ])('refuse %j at line %i', (text, line) => {
    expect(parse(text)).toMatchObject({ ok: false, line })
  })
})

describe('tiles', () => {
  test.each([
    ['tile/0/001', { level: 0, index: 1, width: 256 }],
    ['tile/0/001.p/5', { level: 0, index: 1, width: 5 }],
    ['tile/5/x123/x456/078', { level: 5, index: 123_456_078, width: 256 }],
    ['tile/5/x123/x456/078.p/2', { level: 5, index: 123_456_078, width: 2 }],
    ['tile/entries/x001/x234/067', { level: 'entries', index: 1_234_067, width: 256 }],
  ] as const)('%s', (path, tile) => {
    expect(tiles.tilePath(tile)).toBe(path)
    expect(tiles.parseTilePath(path)).toEqual(tile)
  })

  test.each([
    'tile/3/123/456/078',
    'tile/-1/123/456/078',
    'tile/64/000',
    'tile/00/000',
    'tile/0/x000/001',
    'tile/0/001.p/0',
    'tile/0/001.p/256',
    'tile/0/1',
    'tile/data/001',
    '../tile/0/001',
  ])('%s is no path', (path) => expect(tiles.parseTilePath(path)).toBeUndefined())

  test('a tree of 70,000 has the tiles of the specification', () => {
    const all = tiles.newTiles(0, 70_000)
    const at = (level: number) => all.filter((tile) => tile.level === level)
    expect(at(0)).toHaveLength(274)
    expect(at(0).at(-1)).toEqual({ level: 0, index: 273, width: 112 })
    expect(at(1)).toEqual([
      { level: 1, index: 0, width: 256 },
      { level: 1, index: 1, width: 17 },
    ])
    expect(at(2)).toEqual([{ level: 2, index: 0, width: 1 }])
    expect(tiles.newTiles(0, 256).map(tiles.tilePath)).toEqual(['tile/0/000', 'tile/1/000.p/1'])
    expect(tiles.newTiles(70_000, 70_000)).toEqual([])
    expect(tiles.newTiles(70_000, 70_001)).toEqual([{ level: 0, index: 273, width: 113 }])
  })

  test('entry bundles hold what was put in, up to 65,535 bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 256 }),
        (entries) => {
          const bytes = tiles.encodeEntryBundle(entries)
          expect(tiles.decodeEntryBundle(bytes, entries.length)).toEqual(entries)
          expect(tiles.decodeEntryBundle(bytes, entries.length + 1)).toBeUndefined()
          const cut = bytes.subarray(0, -1)
          expect(tiles.decodeEntryBundle(cut, entries.length)).toBeUndefined()
        },
      ),
      { numRuns: 50 },
    )
    expect(tiles.encodeEntryBundle([new Uint8Array(65_535)])).toHaveLength(65_537)
    expect(() => tiles.encodeEntryBundle([new Uint8Array(65_536)])).toThrow(LedgerError)
  })

  test('proofs out of tiles are the proofs of the tree', async () => {
    const size = 600
    const tree = memoryTree(numberedEntries(size))
    const readTile = async ({ level, index, width }: tiles.Tile): Promise<Uint8Array> => {
      const nodeLevel = (level as number) * 8
      const nodes = Array.from({ length: width }, (_, at) => {
        return { level: nodeLevel, index: index * 256 + at }
      })
      return tiles.encodeHashTile(await tree.read(nodes))
    }
    const read = tileHashReader({ size, readTile })
    const hex = (hashes: readonly Uint8Array[]) =>
      hashes.map((hash) => Buffer.from(hash).toString('hex'))
    for (const index of [0, 255, 256, 511, 599]) {
      const place = { index, size }
      expect(hex(await proveInclusion(read, place))).toEqual(
        hex(await proveInclusion(tree.read, place)),
      )
    }
    for (const fromSize of [1, 255, 257, 599]) {
      const sizes = { fromSize, toSize: size }
      expect(hex(await proveConsistency(read, sizes))).toEqual(
        hex(await proveConsistency(tree.read, sizes)),
      )
    }
    const short = tileHashReader({ size, readTile: async () => new Uint8Array(32) })
    await expect(proveInclusion(short, { index: 0, size })).rejects.toThrow(LedgerError)
  })
})
