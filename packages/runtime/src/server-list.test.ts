// Several servers of one database in the form of libpq become a URL that every parser takes, and a wrong list is named.
import { describe, expect, it } from 'vitest'
import { readServerList, serversOfUrl } from './server-list.ts'

function serversIn(text: string) {
  const read = readServerList(text)
  return 'problem' in read ? read.problem : serversOfUrl(new URL(read.value))
}

describe('readServerList', () => {
  it('leaves a URL of one server as it is', () => {
    for (const text of ['postgres://u:a,b@db.example:1/x?sslmode=require', 'redis://one,two', 'x'])
      expect(readServerList(text)).toEqual({ value: text })
  })

  it('keeps role, password, database and parameters of a list', () => {
    const read = readServerList('postgresql://u:p%40@one:1,two:2/x?sslmode=require')
    const url = new URL('value' in read ? read.value : '')
    expect([url.username, url.password, url.pathname, url.searchParams.get('sslmode')]).toEqual([
      'u',
      'p%40',
      '/x',
      'require',
    ])
  })

  it.each([
    ['one:1,two:2', ['one 1', 'two 2']],
    ['one,two', ['one 5432', 'two 5432']],
    ['[::1]:7,10.0.0.1:8', ['::1 7', '10.0.0.1 8']],
  ])('reads %s', (list, servers) => {
    for (const before of ['postgres://', 'postgres://u:p@'])
      expect(serversIn(`${before}${list}/x`)).toEqual(
        servers.map((one) => ({ host: one.split(' ')[0], port: one.split(' ')[1] })),
      )
  })

  it('reads the other form of libpq, in which one port may stand for all', () => {
    expect(serversIn('postgres:///x?host=one,two&port=99')).toEqual([
      { host: 'one', port: '99' },
      { host: 'two', port: '99' },
    ])
  })

  it.each([
    ['postgres://one/x?host=', 'one'],
    ['postgres://one/x?host=,two', 'one two'],
    ['postgres://one/x?host=two&host=three', 'three'],
    ['postgres://one/x?host=two&host=', 'one'],
    ['postgres://one,%ZZ/x', 'one %ZZ'],
  ])('names the servers that the driver would connect to: %s', (text, hosts) => {
    expect(serversIn(text)).toEqual(
      hosts.split(' ').map((host) => expect.objectContaining({ host })),
    )
  })

  it.each([
    ['postgres://u:p@one:1,,two/x', 'expected host:port as server 2 of 3'],
    ['postgres://one:1,two:99999/x', 'expected host:port as server 2 of 2'],
    [`postgres://${Array.from({ length: 9 }, (_, at) => `h${at}`).join(',')}/x`, 'at most 8'],
  ])('names what is wrong with %s, and no password', (text, problem) => {
    expect(serversIn(text)).toContain(problem)
    expect(serversIn(text)).not.toContain('u:p')
  })
})
