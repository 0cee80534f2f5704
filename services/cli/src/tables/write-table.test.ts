// Files of answers hold what was answered, whatever program opens them, and calculate nothing.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatOfFile, writeTable } from './write-table.ts'
import type { Table } from './write-table.ts'

const TABLE: Table = {
  columns: [
    { name: 'agent', type: 'text' },
    { name: 'spent_micro_usd', type: 'number' },
    { name: 'by_person', type: 'flag' },
  ],
  rows: [
    ['intake', 1_250, true],
    ['=HYPERLINK("http://x")', -3, false],
    ['a, "b"\nc', 9_007_199_254_740_991, null],
    [null, null, null],
  ],
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-table-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function written(name: string, table = TABLE): Promise<Buffer> {
  const file = join(folder, name)
  await writeTable(file, table)
  return readFile(file)
}

describe('writeTable', () => {
  it('writes CSV that no spreadsheet calculates', async () => {
    expect((await written('a.csv')).toString()).toBe(
      'agent,spent_micro_usd,by_person\r\n' +
        'intake,1250,true\r\n' +
        `"'=HYPERLINK(""http://x"")",-3,false\r\n` +
        '"a, ""b""\nc",9007199254740991,\r\n' +
        ',,\r\n',
    )
  })

  it.each(['=1', '+1', '-1', '@x', '\t=1', '\r=1', '\n=1', '＝1'])('quotes %j', async (text) => {
    const rows = [[text]]
    const csv = (
      await written('b.csv', { columns: [{ name: 'x', type: 'text' }], rows })
    ).toString()
    expect(csv.split('\r\n')[1]).toMatch(/^"'/)
  })

  it('writes a JSON object a line', async () => {
    const lines = (await written('a.jsonl')).toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))[1]).toEqual({
      agent: '=HYPERLINK("http://x")',
      spent_micro_usd: -3,
      by_person: false,
    })
    expect(lines).toHaveLength(4)
  })

  it('writes Parquet with typed columns', async () => {
    const bytes = await written('a.parquet')
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
    const rows = await parquetReadObjects({ file: file as ArrayBuffer })
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['intake', 1_250n, true],
      ['=HYPERLINK("http://x")', -3n, false],
      ['a, "b"\nc', 9_007_199_254_740_991n, null],
      [null, null, null],
    ])
  })

  it('writes a table without rows', async () => {
    const none = { ...TABLE, rows: [] }
    expect((await written('c.csv', none)).toString()).toBe('agent,spent_micro_usd,by_person\r\n')
    expect((await written('c.jsonl', none)).toString()).toBe('')
    expect((await written('c.parquet', none)).subarray(0, 4).toString()).toBe('PAR1')
  })

  it('refuses a name that does not say how', () => {
    expect(() => formatOfFile('a.xls')).toThrow(/does not say in which form/)
  })
})
