"""The chat viewer: pages over an archive, of the data folder, an upload, a repository or a single file.

open_archive          an archive that several requests read at once
view                  the request for a page, and the results a handler can return
conversation_routes   finds the handler of a path inside a conversation
chat_list, chat_page, message_page, search_page, media_page, people_page, statistics_page, media, about,
validation_results
                      the pages
single_archive        the application for one archive on one's own machine
cache, cache_entries  backups imported into archives in the background, for all processes of the service
import_limits, import_process, import_worker
                      who may import how much; the import itself, in a process with resource limits
export_process, export_worker
                      exports as ZIP archives, in a process with the same limits
encrypted_media, blur_hash
                      attachments of a phone folder, decrypted while they are sent; what is shown until they come
encryption            conversations of encrypted backups, readable with the browser's secret only
revocation            removes what nobody may see any more from the cache
host_pages            the pages inside the service, shared by those below
data_folder_pages     the archives and backups of the data folder, for administrators
uploaded_backups, upload_endpoints, personal_pages
                      backups that users uploaded: their kinds and files, the upload, the pages of their owner
repository_files      backups in repositories
"""
