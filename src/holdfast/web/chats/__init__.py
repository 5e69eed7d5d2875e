"""The chat viewer: pages over an archive, of the data folder, a repository or a single file.

room          an archive that several requests read at once
view          what one page is made from, and what a page can be
conversation  finds the page for an address inside a conversation
chat_list, chat_page, message_page, finding, people_page, figures, media, about
              the pages
alone         the pages for one person on their own machine
cache         backups brought into archives in the background, for all processes of the service
admission     whether one more may be brought in for somebody; bringing and import_process do it, within limits
revocation    takes out of the cache what nobody may see any more
shelf_pages   the archives and backups of the data folder, for the administrator
bridge        backups that lie in repositories
"""
