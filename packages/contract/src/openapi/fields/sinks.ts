/** Fields of sinks. */
export const sinkFields = {
  target: 'The receiver.',
  kinds: 'Kinds of entries to send, where `*` is any run of characters; null for all.',
  watermark_seq: 'The last entry that was sent or left out by `kinds`; null before the first.',
  lag_entries: 'Entries of the ledger after the watermark.',
  last_sent_at: 'Time of the last accepted batch; null before the first.',
  last_error: 'The failure of the last attempt; null after a success.',
  header_names: 'Names of the headers; their values are never shown.',
  endpoint: 'Origin of the object store.',
  bucket: 'Name of the bucket.',
  region: 'Region of the bucket, part of the signature.',
  access_key_id: 'Id of the access key.',
  ca: 'PEM of the authorities that replace the public ones.',
  'testSink.error': 'The failure; null after a success.',
}
