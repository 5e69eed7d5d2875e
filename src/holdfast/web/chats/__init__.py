"""The chat viewer: pages of an archive in the data folder, an upload, a repository or a single file.

open_archive          connection pool of an archive
view                  the request for a page, and the results a handler can return
conversation_routes   routes a path inside a conversation to its handler
chat_list, chat_page, message_page, search_page, media_page, people_page, statistics_page, media, about,
validation_results
                      the pages
single_archive        the application of `holdfast archive serve`
cache, cache_entries  on-disk cache of imported backups, shared by all processes of the service
import_limits, import_process, import_worker
                      rate and concurrency limits; the import, in a child process with resource limits
export_process, export_worker, attachment_channel, encrypted_media_folder
                      exports as ZIP archives, in a child process with the same limits; encrypted attachments are
                      read through the parent process
encrypted_media, blur_hash
                      attachments of a phone folder, decrypted while they are sent; placeholders of images
encryption            encryption at rest of cached archives, with a key derived from a secret of the browser
revocation            removes cache entries that nobody may read any more
host_pages            conversation pages inside the service, shared by the modules below
data_folder_pages     the archives and backups of the data folder, for administrators
uploaded_backups, upload_endpoints, personal_pages
                      backups that users uploaded: their kinds and files, the upload, the pages of their owner
repository_files      backups in repositories
"""
