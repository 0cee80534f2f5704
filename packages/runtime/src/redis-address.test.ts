// One address of Redis says where it is and how it is found; a wrong one is refused in words that show no password.
import { describe, expect, it } from 'vitest'
import { describeRedis, readRedisAddress, redisAddressOf } from './redis-address.ts'
import { maskPassword, optionalRedisUrl, readSettings } from './settings.ts'

describe('an address of Redis', () => {
  it('of one server is left to the driver', () => {
    const url = 'rediss://user:p%40ss@redis.example:6380/2?family=6'
    expect(redisAddressOf(url)).toEqual({
      kind: 'single',
      url,
      isEncrypted: true,
      hosts: [{ host: 'redis.example', port: 6_380 }],
    })
    expect(redisAddressOf('redis://127.0.0.1').hosts).toEqual([{ host: '127.0.0.1', port: 6_379 }])
  })

  it('of Sentinels names them, the primary, both passwords and the database', () => {
    const url =
      'rediss+sentinel://baton:p%40s%2Fs@s1.example:26379,s2.example,[::1]:26380/main?db=2&sentinel_username=ops&sentinel_password=s%26+x'
    expect(redisAddressOf(url)).toEqual({
      kind: 'sentinel',
      isEncrypted: true,
      hosts: [
        { host: 's1.example', port: 26_379 },
        { host: 's2.example', port: 26_379 },
        { host: '::1', port: 26_380 },
      ],
      username: 'baton',
      password: 'p@s/s',
      name: 'main',
      database: 2,
      sentinels: { username: 'ops', password: 's&+x' },
    })
    expect(redisAddressOf('redis+sentinel://s1/main/3')).toMatchObject({
      isEncrypted: false,
      database: 3,
      username: undefined,
      password: undefined,
      sentinels: { username: undefined, password: undefined },
    })
  })

  it('of a Cluster names some of its servers', () => {
    expect(redisAddressOf('redis+cluster://:pw@h1:7000,h2')).toEqual({
      kind: 'cluster',
      isEncrypted: false,
      hosts: [
        { host: 'h1', port: 7_000 },
        { host: 'h2', port: 6_379 },
      ],
      username: undefined,
      password: 'pw',
    })
    expect(redisAddressOf('redis+cluster://h1/0').kind).toBe('cluster')
  })

  it('is said to people without a password', () => {
    const words = (url: string) => describeRedis(redisAddressOf(url))
    expect(words('redis://:pw@h')).toBe('Redis at h:6379')
    expect(words('redis+cluster://:pw@h1,[::1]:7')).toBe('Redis Cluster at h1:6379, [::1]:7')
    expect(words('redis+sentinel://:pw@s1/main')).toBe(
      'Redis main, of which Sentinels at s1:26379 tell',
    )
  })
})

const SENTINELS = 'redis+sentinel://u:S3CRET@s1:26379'
describe('a wrong address', () => {
  it.each([
    ['http://u:S3CRET@h', /starts with redis:\/\/ or rediss:\/\/ or redis\+sentinel/],
    ['redis-sentinel://u:S3CRET@s1:26379/main', /^expected redis\+sentinel:\/\/:PASSWORD@/],
    ['rediss-cluster://u:S3CRET@s1:26379', /^expected rediss\+cluster:\/\//],
    ['redis://u:S3CRET@h1:6379,h2:6379', /several servers.*redis\+sentinel.*redis\+cluster/],
    ['redis://u:S3CRET@h:port', /a host and a port/],
    [SENTINELS, /the name of the primary is missing/],
    [`${SENTINELS}/`, /the name of the primary is missing/],
    [`${SENTINELS}/main/x`, /the database is a number/],
    [`${SENTINELS}/main/0/1`, /nothing behind the database/],
    [`${SENTINELS}/main/1?db=2`, /stands there twice/],
    [`${SENTINELS},s1:26379/main`, /s1:26379 stands there twice/],
    [`${SENTINELS},/main`, /a server without a name/],
    [`${SENTINELS}0/main`, /expected host:port/],
    [`${SENTINELS}/main?password=S3CRET`, /"password" is no option here: db, sentinel_username/],
    ['redis+sentinel://S3CRET@s1/main', /a user without a password/],
    ['redis+sentinel://:S3CRET%@s1/main', /percent-encode/],
    ['redis+sentinel://:S3CRET/S3CRET@s1/main', /percent-encode/],
    ['redis+cluster://:1S3CRET?@s1', /percent-encode/],
    ['redis+cluster://u:S3CRET@h1/2', /database 0 alone/],
    ['redis+cluster://u:S3CRET@h1?db=2', /database 0 alone/],
    ['redis+cluster://u:S3CRET@h1/main', /nothing behind the servers/],
    ['redis+cluster://', /a server without a name/],
  ])('%s is refused', (url, problem) => {
    expect(readRedisAddress(url)).toEqual({ problem: expect.stringMatching(problem) })
    expect(JSON.stringify(readRedisAddress(url))).not.toContain('S3CRET')
  })

  it('is refused as a setting, which is named, and shows neither password', () => {
    const spec = { BATON_REDIS_URL: optionalRedisUrl({ help: 'Redis.' }) }
    const url = 'redis+sentinel://u:S3CRET@s1:26379?sentinel_password=S3CRET@1'
    const read = () => readSettings(spec, { BATON_REDIS_URL: url })
    expect(read).toThrow(/BATON_REDIS_URL is .*the name of the primary is missing/)
    expect(read).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('S3CRET') }),
    )
    const given = 'redis+cluster://h1,h2'
    expect(readSettings(spec, { BATON_REDIS_URL: given })).toEqual({ BATON_REDIS_URL: given })
    expect(readSettings(spec, {})).toEqual({ BATON_REDIS_URL: undefined })
  })

  it('is masked in both places where a password may stand', () => {
    expect(maskPassword('redis+sentinel://u:S3@s1:1,s2:2/main?db=1&sentinel_password=S3&x=1')).toBe(
      'redis+sentinel://u:***@s1:1,s2:2/main?db=1&sentinel_password=***&x=1',
    )
  })
})
