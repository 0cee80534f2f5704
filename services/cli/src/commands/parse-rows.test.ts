// Rows are read as they were shown, and what is no row is refused by its line.
import { expect, test } from 'vitest'
import { parseRows } from './parse-rows.ts'

test('CSV with quotes, commas, line ends and empty fields', () => {
  expect(parseRows('taskid,reason,costs\na,"say ""no"", twice\nat least",\r\nb,,"{}"\n')).toEqual({
    columns: ['taskid', 'reason', 'costs'],
    rows: [
      { taskid: 'a', reason: 'say "no", twice\nat least', costs: '' },
      { taskid: 'b', reason: '', costs: '{}' },
    ],
  })
})

test('a header alone is no row', () => {
  expect(parseRows('taskid,reason\n')).toEqual({ columns: ['taskid', 'reason'], rows: [] })
})

test('JSON, one row a line or all in one array', () => {
  const rows = [
    { taskid: 'a', seq: 1 },
    { taskid: 'b', seq: 2 },
  ]
  const columns = ['taskid', 'seq']
  expect(parseRows('{"taskid":"a","seq":1}\n{"taskid":"b","seq":2}\n')).toEqual({ columns, rows })
  expect(parseRows(JSON.stringify(rows))).toEqual({ columns, rows })
})

test.each([
  ['a,b\n1\n', 'row 1 has 1 fields, the header 2'],
  ['a,b\n1,"2\n', 'row 1 of the CSV has a stray quote'],
  ['{"a":1}\n{"a":\n', 'line 2 is not JSON'],
  ['[1]', 'a row is not a JSON object'],
])('%j is refused', (text, problem) => {
  expect(() => parseRows(text)).toThrow(problem)
})
