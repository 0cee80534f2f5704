// What leads into somebody's own network is no public address, however it is written.
import { expect, it } from 'vitest'
import { isPublicAddress } from './public-addresses.ts'

it.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '172.32.0.1',
  '192.169.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82b::200e',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each([
  ['this host', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['shared, and metadata of Alibaba', '100.100.100.200'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['link-local, and metadata', '169.254.169.254'],
  ['metadata of Oracle', '192.0.0.192'],
  ['metadata of Azure', '168.63.129.16'],
  ['documentation', '203.0.113.7'],
  ['benchmarks', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped, public all the same', '::ffff:8.8.8.8'],
  ['IPv4-compatible', '::10.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['local NAT64', '64:ff9b:1::a00:1'],
  ['6to4', '2002:7f00:1::'],
  ['Teredo', '2001:0:5ef5:79fd::1'],
  ['documentation', '2001:db8::1'],
  ['documentation', '3fff::1'],
  ['unique local, and metadata of AWS', 'fd00:ec2::254'],
  ['unique local', 'fc00::1'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['no address', 'localhost'],
  ['no address', '127.1'],
  ['no address', '0x7f000001'],
  ['no address', ''],
])('%s: %s is not', (_, address) => {
  expect(isPublicAddress(address)).toBe(false)
})
